// Reads columns through the Arrow PyCapsule protocol, in one or several chunks.
#include <mutex>
#include <utility>

#include "gil.hpp"
#include "pfgen/arrow_column.hpp"
#include "pfgen/error.hpp"
#include "text_column.hpp"

namespace py = pybind11;

namespace pfgen {
namespace {

// Owns a struct of the interface and releases it unless the producer has done so.
template <class Struct>
struct Owned : Struct {
  Owned() : Struct{} {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
  // Moves the content out of another struct, as the interface prescribes.
  void take(Struct& other) {
    static_cast<Struct&>(*this) = other;
    other.release = nullptr;
  }
};

// Takes the content of a capsule; only one of several threads can.
template <class Struct>
void take_content(const py::handle capsule, const char* name, const std::string& column, Owned<Struct>& into) {
  static std::mutex taking;
  if (!PyCapsule_IsValid(capsule.ptr(), name)) {
    throw BadColumn{column, "expected an Arrow capsule '" + std::string(name) + "' from its exporter"};
  }
  auto& content = *static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  const std::scoped_lock lock(taking);
  if (content.release == nullptr) throw BadColumn{column, "an Arrow capsule that was read before"};
  into.take(content);
}

void check_status(ArrowArrayStream& stream, int status) {
  if (status == 0) return;
  const char* message = stream.get_last_error != nullptr ? stream.get_last_error(&stream) : nullptr;
  throw ArrowError("the Arrow stream failed: " + std::string(message != nullptr ? message : "no reason given"));
}

// Calls `add(schema, chunk)` for each chunk; only these calls hold the GIL.
template <class Add>
void for_each_chunk(const py::object& capsule, const std::string& column, const Add& add) {
  const GilReleased no_gil;
  Owned<ArrowArrayStream> stream;
  {
    const GilHeld gil;
    take_content(capsule, "arrow_array_stream", column, stream);
  }
  if (stream.get_schema == nullptr || stream.get_next == nullptr) throw ArrowError("an Arrow stream without functions");
  Owned<ArrowSchema> schema;
  int status = 0;
  run_python([&] { status = stream.get_schema(&stream, &schema); });
  check_status(stream, status);
  if (schema.release == nullptr) throw ArrowError("an Arrow stream without a schema");
  for (;;) {
    auto chunk = std::make_shared<Owned<ArrowArray>>();
    run_python([&] { status = stream.get_next(&stream, chunk.get()); });
    check_status(stream, status);
    if (chunk->release == nullptr) return;
    const GilHeld gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    add(schema, std::move(chunk));
  }
}

}  // namespace

void import_arrow(py::handle source, const std::string& column, std::vector<std::shared_ptr<void>>& owners,
                  const ReadChunk& read) {
  const auto add = [&](const ArrowSchema& schema, std::shared_ptr<Owned<ArrowArray>> array) {
    read(schema, *array);
    owners.push_back(std::move(array));
  };
  try {
    if (py::hasattr(source, "__arrow_c_stream__")) {
      for_each_chunk(call_python(source.attr("__arrow_c_stream__")), column, add);
      return;
    }
    const py::object capsules = call_python(source.attr("__arrow_c_array__"));
    if (!py::isinstance<py::tuple>(capsules) || py::len(capsules) != 2) {
      throw BadColumn{column, "expected two Arrow capsules from __arrow_c_array__"};
    }
    const py::tuple pair = capsules;
    Owned<ArrowSchema> schema;
    take_content(pair[0], "arrow_schema", column, schema);
    auto array = std::make_shared<Owned<ArrowArray>>();
    take_content(pair[1], "arrow_array", column, *array);
    add(schema, std::move(array));
  } catch (const ArrowError& error) {
    throw BadColumn{column, error.what()};
  }
}

}  // namespace pfgen
