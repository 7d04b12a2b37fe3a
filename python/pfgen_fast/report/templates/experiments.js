followTheme(() => {})();
