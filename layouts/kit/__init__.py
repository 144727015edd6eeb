"""What every page is built from: components, texts, state, figures and cards. It knows no subject."""
