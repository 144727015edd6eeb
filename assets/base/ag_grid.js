// Where dash-ag-grid looks up the functions and cell renderers that column definitions name.
export const gridFunctions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
export const cellRenderers = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
