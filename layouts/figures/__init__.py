"""Series to plain figure dicts: no Dash, no colours of a theme, no text from files that plotly would take for markup."""
