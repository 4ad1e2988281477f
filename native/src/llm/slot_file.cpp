// Slots on disk.
#include "abi/guard.h"
#include "llm/slot.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#if defined(_WIN32)
#include <io.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace eliza::llm {
namespace {

namespace fs = std::filesystem;

using File = std::unique_ptr<FILE, int (*)(FILE *)>;

[[noreturn]] void fail(const char * what, const std::string & path) {
    throw Failure(ELIZA_ERR_FFI_FAULT, std::string("cannot ") + what + " '" + path + "': " + std::strerror(errno));
}

#if defined(_WIN32)
File open_private(const fs::path & path) {
    return {_wfopen(path.c_str(), L"wbx"), std::fclose};
}

bool flush_to_disk(FILE * file) {
    return std::fflush(file) == 0 && _commit(_fileno(file)) == 0;
}
#else
File open_private(const fs::path & path) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return {descriptor < 0 ? nullptr : fdopen(descriptor, "wb"), std::fclose};
}

bool flush_to_disk(FILE * file) {
    return std::fflush(file) == 0 && fsync(fileno(file)) == 0;
}
#endif

}  // namespace

void write_slot(const Slot & slot, const std::string & path_utf8) {
    require(!path_utf8.empty(), "the slot file's name is empty");
    const fs::path  path    = fs::u8path(path_utf8);
    const fs::path  partial = fs::u8path(path_utf8 + ".part");
    std::error_code failed;
    const bool      is_free = fs::status(path, failed).type() == fs::file_type::not_found;
    require(is_free || fs::is_regular_file(path, failed), "the slot's name belongs to something that is no file");
    fs::remove(partial, failed);  // left by a process that died
    const std::vector<uint8_t> bytes = encode_slot(slot);
    File                       file  = open_private(partial);
    if (file == nullptr) {
        fail("create", partial.u8string());
    }
    const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
    if (!is_written || !flush_to_disk(file.get())) {
        const int reason = errno;
        file.reset();
        fs::remove(partial, failed);
        errno = reason;
        fail("write", partial.u8string());
    }
    file.reset();
    fs::rename(partial, path, failed);
    if (failed) {
        const std::string reason = failed.message();
        fs::remove(partial, failed);
        throw Failure(ELIZA_ERR_FFI_FAULT, "cannot publish '" + path_utf8 + "': " + reason);
    }
}

Slot read_slot(const std::string & path_utf8) {
    require(!path_utf8.empty(), "the slot file's name is empty");
    const fs::path  path = fs::u8path(path_utf8);
    std::error_code failed;
    const auto      size = fs::is_regular_file(path, failed) ? fs::file_size(path, failed) : 0;
    if (failed || size == 0) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "there is no slot file '" + path_utf8 + "'");
    }
#if defined(_WIN32)
    const File file(_wfopen(path.c_str(), L"rb"), std::fclose);
#else
    const File file(std::fopen(path.c_str(), "rbe"), std::fclose);
#endif
    if (file == nullptr) {
        fail("open", path_utf8);
    }
    std::vector<uint8_t> bytes(size);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
    return decode_slot(bytes);
}

}  // namespace eliza::llm
