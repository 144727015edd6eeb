"""Everything around a page: menu, header and routing (shell), and the parts that an embedded page needs too (chrome)."""
