# SPDX-License-Identifier: GPL-2.0-or-later
# usage: cmake -DPAGE=report.html -DOUT=report_page.c -P embed.cmake
# The page as C strings: what is before and behind the line "@DATA@".

file(READ ${PAGE} page HEX)
string(HEX "@DATA@" mark)
string(FIND ${page} ${mark} at)
if(at EQUAL -1)
	message(FATAL_ERROR "${PAGE} has no @DATA@")
endif()
string(SUBSTRING ${page} 0 ${at} before)
math(EXPR behind "${at} + 12")
string(SUBSTRING ${page} ${behind} -1 after)
set(text "/* Made from report.html: do not edit. */\n")
foreach(half before after)
	string(REGEX REPLACE "(..)" "0x\\1," bytes ${${half}})
	string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
		bytes ${bytes})
	string(APPEND text "extern const char report_page_${half}[];\n"
		"const char report_page_${half}[] = {\n${bytes}0\n};\n")
endforeach()
file(WRITE ${OUT} "${text}")
