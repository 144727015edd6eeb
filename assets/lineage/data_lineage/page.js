// The data lineage page; all of it is shared with the model lineage page.
import "../lineage.js";
