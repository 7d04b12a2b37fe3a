// The last script of pages without scripts of their own.

followTheme(() => {})();
