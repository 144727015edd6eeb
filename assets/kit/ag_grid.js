// Where dash-ag-grid looks up the functions and cell renderers named in column definitions.
export const gridFunctions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
export const cellRenderers = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
