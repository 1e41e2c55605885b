#include "tapehead/text/byte_alphabet.h"

#include <set>

#include "support/testing.h"
#include "tapehead/text/utf8.h"

using namespace tapehead;

TEST_CASE("visible bytes of Latin-1 stand for themselves, the others for U+0100 and on") {
  CHECK(written_byte('!') == "!");
  CHECK(written_byte('~') == "~");
  CHECK(written_byte(0xA1) == utf8_of(0xA1));
  CHECK(written_byte(0xFF) == utf8_of(0xFF));
  CHECK(written_byte(0) == utf8_of(0x100));
  CHECK(written_byte('\n') == "Ċ");
  CHECK(written_byte(' ') == "Ġ");
  CHECK(written_byte(0x7F) == utf8_of(0x121));
  CHECK(written_byte(0xA0) == utf8_of(0x142));
  CHECK(written_byte(0xAD) == utf8_of(0x143));
}

TEST_CASE("every byte has a character of its own, which is read back") {
  std::set<std::string> characters;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string character = written_byte(static_cast<unsigned char>(byte));
    characters.insert(character);
    CHECK(bytes_written(character) == std::string(1, static_cast<char>(byte)));
  }
  CHECK(characters.size() == 256);
  CHECK(bytes_written("Ġthe") == " the");
  CHECK(bytes_written("") == "");
}

TEST_CASE("characters outside the alphabet write no bytes") {
  for (const char* text :
       {" ", "a b", "\t", "\x7f", "\xc2\xa0", "\xc2\xad", "\xc5\x84", "漢", "a\xff", "\xc3"})
    CHECK_FALSE(bytes_written(text).has_value());
}
