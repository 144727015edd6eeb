// All that this page has in the browser is shared with the other page about lineage.
import "../../lineage/lineage.js";
