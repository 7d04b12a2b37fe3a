// Tables for the rules of perturbation. Written by tools/make_perturbation_tables.py from
// python/pfgen_fast/data/discernment/tables.json.
// clang-format off
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace pfgen {

inline constexpr std::array<std::u32string_view, 26> kKeyboardNeighbours{  // of each letter from a to z
    U"qswz", U"ghnv", U"dfvx", U"cefrsx", U"drsw", U"cdgrtv", U"bfhtvy",
    U"bgjnuy", U"jkou", U"hikmnu", U"ijlmo", U"kop", U"jkn", U"bhjm", U"iklp",
    U"lo", U"aw", U"deft", U"adewxz", U"fgry", U"hijy", U"bcfg", U"aeqs", U"cdsz",
    U"ghtu", U"asx",
};
inline constexpr std::array<std::u32string_view, 20> kVoicingPairs{
    U"かが", U"きぎ", U"くぐ", U"けげ", U"こご", U"さざ", U"しじ", U"すず", U"せぜ", U"そぞ", U"ただ",
    U"ちぢ", U"つづ", U"てで", U"とど", U"はば", U"ひび", U"ふぶ", U"へべ", U"ほぼ",
};
inline constexpr std::array<std::u32string_view, 10> kSmallKanaPairs{
    U"あぁ", U"いぃ", U"うぅ", U"えぇ", U"おぉ", U"つっ", U"やゃ", U"ゆゅ", U"よょ", U"わゎ",
};
inline constexpr std::array<std::u32string_view, 15> kKanaRows{
    U"あいうえお", U"かきくけこ", U"がぎぐげご", U"さしすせそ", U"ざじずぜぞ", U"たちつてと", U"だぢづでど",
    U"なにぬねの", U"はひふへほ", U"ばびぶべぼ", U"ぱぴぷぺぽ", U"まみむめも", U"やゆよ", U"らりるれろ", U"わをん",
};
inline constexpr std::array<std::u32string_view, 56> kLookalikePairs{
    U"人入", U"休体", U"住往", U"侯候", U"倍部", U"側則", U"刀力", U"千干", U"午牛", U"卒率", U"占点",
    U"右石", U"各名", U"員買", U"問間", U"因困", U"土士", U"地池", U"基墓", U"場湯", U"壁璧", U"大犬",
    U"天夫", U"失矢", U"妨防", U"家象", U"己巳", U"幣弊", U"径経", U"待持", U"復複", U"微徴", U"惑感",
    U"揚陽", U"改政", U"料科", U"日目", U"晴清", U"木本", U"未末", U"橋稿", U"水永", U"減滅", U"烏鳥",
    U"熟熱", U"玉王", U"白自", U"積績", U"紀記", U"続読", U"綱網", U"緑縁", U"職識", U"話語", U"輪輸",
    U"遣遺",
};
inline constexpr std::array<std::u32string_view, 16> kNegationFollowers{  // empty: the end of the text
    U"。", U"．", U"！", U"？", U"!", U"?", U"」", U"）", U"\n", U"、", U"", U"ため", U"が",
    U"ので", U"こと", U"と",
};
inline constexpr std::array<std::u32string_view, 17> kAuxiliaries{
    U"is", U"are", U"was", U"were", U"can", U"could", U"will", U"would",
    U"should", U"must", U"may", U"might", U"has", U"have", U"had", U"does",
    U"did",
};
inline constexpr std::array<std::u32string_view, 20> kAbbreviations{
    U"al.", U"approx.", U"cf.", U"co.", U"dr.", U"e.g.", U"etc.", U"fig.",
    U"i.e.", U"inc.", U"ltd.", U"mr.", U"mrs.", U"ms.", U"mt.", U"no.", U"prof.",
    U"st.", U"u.s.", U"vs.",
};
inline constexpr std::u32string_view kParticles = U"はがをにでともへの";
// Behind the last word of a set there are empty ones.
inline constexpr std::array<std::array<std::u32string_view, 9>, 10> kFunctionWords{{
    {U"a", U"an", U"the"},
    {U"in", U"on", U"at", U"of", U"to", U"for", U"from", U"with", U"by"},
    {U"is", U"are"},
    {U"was", U"were"},
    {U"has", U"have"},
    {U"do", U"does"},
    {U"he", U"she", U"it", U"they"},
    {U"his", U"her", U"its", U"their"},
    {U"this", U"these"},
    {U"that", U"those"},
}};
inline constexpr std::array<std::pair<std::u32string_view, std::u32string_view>, 22> kJapaneseNegations{{
    {U"ではありません", U"です"},
    {U"ではない", U"である"},
    {U"じゃない", U"だ"},
    {U"できません", U"できます"},
    {U"できない", U"できる"},
    {U"されません", U"されます"},
    {U"されない", U"される"},
    {U"ありません", U"あります"},
    {U"ません", U"ます"},
    {U"しない", U"する"},
    {U"ならない", U"なる"},
    {U"です", U"ではありません"},
    {U"である", U"ではない"},
    {U"でした", U"ではありませんでした"},
    {U"できます", U"できません"},
    {U"できる", U"できない"},
    {U"ます", U"ません"},
    {U"ました", U"ませんでした"},
    {U"される", U"されない"},
    {U"する", U"しない"},
    {U"なる", U"ならない"},
    {U"ある", U"ない"},
}};

}  // namespace pfgen
