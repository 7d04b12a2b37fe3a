// The last script, which starts the report page: the theme, and the view that the address names.

followTheme(drawSoon)();
followAddress();
