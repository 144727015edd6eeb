// The model lineage page; all of it is shared with the data lineage page.
import "../lineage.js";
