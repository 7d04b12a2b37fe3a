// The texts of the page where answers are tried, in English and Japanese.

const TRY_WORDS = {
  en: {
    added: "after adding {0}", address: "Copy it from the address bar", apart: "The models have answers to different questions, so their means are not comparable.",
    back: "Alt ↑ and Alt ↓ go back and forth", choose: "Choose files", copied: "Copied", copy: "Copy link",
    drop: "Or drop your own files here: a compiled suite (.pfgen), or answers as CSV, TSV or JSON lines.",
    fluency: "fluency", helpfulness: "helpfulness", truthfulness: "truthfulness", score: "Score", history: "Scores so far",
    keywords: "Missing keywords: ", unchecked: "Not checked here, only in Python: ", unknown: "not known here", unranked: "A model has no rank if only Python can check a keyword rule of its questions.",
    lacks: "This build of the site has no WebAssembly module: “make wasm” and “make docs” build it.",
    levels: "", legend: "Share of the reference answers that contain a character’s 3-gram",
    loaded: "Loaded: the module, {0} KB, and the suite {1}, {2} KB. Nothing that you enter leaves this page.",
    long: "This answer is too long for a link.", longer: "{0} characters longer", shorter: "{0} characters shorter", changed: "changed",
    lost: "after losing {0}", more: " … {0} more characters", page: "Try it", question: "Question", reference: "A typical reference answer",
    take: "Use it as the answer", yours: "Your answer", model: "model", answers: "answers", save: "Save all scores (CSV)",
    ranking: "Ranking of {0}", start: "Start (loads {0} KB)", scoring: "Scoring: {0} of {1}", without: "A compiled suite has no texts of reference answers.",
    above: "This score is higher than those of {0} of the {1} reference answers to this question, which score {2} to {3} (each is one of its own references).",
    runs: "Among the models of this page, by their mean scores on this question, it would rank {1} of {0}.",
    published: "Among the mean scores on this question of the {0} published runs, it would rank {1}.",
  },
  ja: {
    added: "{0} を加えた後", address: "アドレスバーからコピーしてください", apart: "モデルごとに回答した質問が異なるため、平均は比べられません。",
    back: "Alt ↑ と Alt ↓ で前後に移動", choose: "ファイルを選ぶ", copied: "コピーしました", copy: "リンクをコピー",
    drop: "自分のファイルをここに置くこともできます: コンパイルしたスイート（.pfgen）、または CSV、TSV、JSON Lines の回答。",
    fluency: "流暢さ", helpfulness: "有用性", truthfulness: "真実性", score: "スコア", history: "これまでのスコア",
    keywords: "足りないキーワード: ", unchecked: "ここでは確認できないもの（Python のみ）: ", unknown: "ここでは不明", unranked: "質問のキーワード規則を Python でしか確認できないモデルには順位がありません。",
    lacks: "このサイトのビルドには WebAssembly モジュールがありません。“make wasm” と “make docs” で作れます。",
    levels: "0.5 % 未満: 点線|0.5 % 以上 2 % 未満|2 % 以上 5 % 未満|5 % 以上 10 % 以下|10 % を超える: 太字|25 % を超える: 太字",
    legend: "各文字を含む 3-gram が現れる参照回答の割合",
    loaded: "読み込み済み: モジュール {0} KB とスイート {1} {2} KB。入力した内容はこのページの外に出ません。",
    long: "この回答はリンクには長すぎます。", longer: "{0} 文字長い", shorter: "{0} 文字短い", changed: "変更後",
    lost: "{0} がなくなった後", more: " … 残り {0} 文字", page: "試す", question: "質問", reference: "代表的な参照回答",
    take: "これを回答にする", yours: "あなたの回答", model: "モデル", answers: "回答数", save: "すべてのスコアを保存（CSV）",
    ranking: "{0} のランキング", start: "始める（{0} KB を読み込みます）", scoring: "採点中: {1} 件中 {0} 件", without: "コンパイルしたスイートには参照回答の本文がありません。",
    above: "この質問の参照回答 {1} 件のうち {0} 件を上回ります（参照回答のスコアは {2} から {3}。それぞれが自身の参照にも含まれます）。",
    published: "公開されている {0} 件の結果のこの質問での平均スコアと比べると、{1} 位に当たります。",
  },
};

/** A function that returns a text in a language, with values in place of {0}, {1}, ... */
function wordsOf(language) {
  const words = TRY_WORDS[language] ?? TRY_WORDS.en;
  return (word, ...values) => words[word].replace(/\{(\d)\}/g, (_, at) => values[at]);
}
