"""The Dash application: create_app, index page, static files, security, embedding."""
