// The C++ tests of cpp/src/system/simd.hpp, compiled to WebAssembly.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { WASI } from "node:wasi";

test("WebAssembly's SIMD computes as plain numbers do", async () => {
  const wasi = new WASI({ version: "preview1", returnOnExit: true });
  const program = readFileSync(new URL("../../build/wasm/simd_test.wasm", import.meta.url));
  const { instance } = await WebAssembly.instantiate(program, { wasi_snapshot_preview1: wasi.wasiImport });
  assert.equal(wasi.start(instance), 0);
});
