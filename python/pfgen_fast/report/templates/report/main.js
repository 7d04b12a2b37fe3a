// Starts the report page: the theme, and what the address asks for. The last script.

followTheme(drawSoon)();
followAddress();
