# Writes a C++ source in which each function of page_parts.h returns the bytes of one file:
#   cmake -DOUTPUT=page_parts.cpp -DMARKUP=page.html -DSTYLE=page.css -DSCRIPT=page.js -P embed.cmake

function(bytes_of file result)
  file(READ "${file}" digits HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" digits "${digits}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${digits}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

set(source "// Made from the files in src/report/page/ by embed.cmake.\n#include \"tapehead/report/page_parts.h\"\n")
foreach(part IN ITEMS markup style script)
  string(TOUPPER ${part} variable)
  bytes_of("${${variable}}" bytes)
  string(APPEND source "\nstatic const unsigned char ${part}[] = {\n${bytes}};\n"
         "std::string_view tapehead::page_${part}() {\n"
         "  return {reinterpret_cast<const char*>(${part}), sizeof(${part})};\n}\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}")
