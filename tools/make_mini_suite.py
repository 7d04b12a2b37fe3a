"""Write the packaged suite `mini`: 8 original questions with two reference sets (A plain, B detailed) of 220 answers.

The suite allows trying and testing the package without the data of pfgen-bench. A raw answer is assembled from
hand-written clauses, one variant for each slot of the question's grammar; occasionally it is a complete short answer.
SHA-1 picks the variants. The pipeline of `pfgen-fast suite build` then selects the most representative of 1,000 raw
answers for each set. The files are identical on every machine. The English questions use words as units.

    python tools/make_mini_suite.py            # write python/pfgen_fast/data/mini/
    python tools/make_mini_suite.py --check    # exit 1 if the files on disk are not what would be written
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

from pfgen_fast import build_suite
from pfgen_fast.build.build_config import read_config

DEFAULT_FOLDER = Path(__file__).resolve().parent.parent / "python" / "pfgen_fast" / "data" / "mini"
SETS = ("A", "B")
RAW_ANSWERS = 1000
ANSWERS_PER_SET = 220
BRIEF_EVERY = 25  # on average, one in this many answers is a complete short one

# "sets": for each reference set, "brief" holds complete answers and "slots" the clauses that are joined in order.
# A vertical bar separates variants; earlier ones are picked more often (see `pick`), "" leaves the slot out.
QUESTIONS = [
    {
        "question": "雷が光ってから音が遅れて聞こえるのはなぜ？",
        "category": "physics",
        "note": "光は秒速約30万km、音は秒速約340m。3秒の遅れが約1kmの距離に当たる。",
        "keywords": [
            {"t": "光"},
            {"or": [{"t": "秒速"}, {"t": "速[さい度]"}, {"t": "[1１]秒間?[にで]"}], "name": "速さの違い"},
            {"t": "(340|３４０) ?(m|ｍ|メートル)", "name": "音速", "importance": 0.5},
        ],
        "sample": "雷の光と音は同時に生まれますが、光は秒速約30万kmでほぼ瞬時に届くのに対し、"
        "音は秒速約340mでしか進まないため遅れて聞こえます。光ってから3秒後に音がすれば、雷までの距離は約1kmです。",
        "sets": {
            "A": {
                "brief": (
                    "音は光よりもずっと遅く、秒速約340mでしか進まないからです。|"
                    "光の速さに比べて、音の速さがとても遅いからです。|"
                    "光はすぐ届きますが、音は1秒に約340mしか進まないためです。"
                ),
                "slots": [
                    "雷の光と音は同時に生まれますが、|雷では光と音が同時に出ますが、|"
                    "稲妻と雷鳴は同じ瞬間に発生しますが、|雷が落ちると光と音が一緒に出ますが、|"
                    "光も音も放電の瞬間に発生しますが、|稲光と音は同時に起きていますが、",
                    "光は秒速約30万kmで進み、|光は1秒で約30万km進み、|光の速さは秒速約30万kmと非常に速く、|"
                    "光はほぼ一瞬で届き、|光は見る人の目にすぐ届き、",
                    "音は秒速約340mしかないため、|音は1秒に約340mしか進まないので、|音の速さは秒速340mほどなので、|"
                    "空気中の音は秒速約340mと遅いため、|音の速度は毎秒およそ340メートルのため、|"
                    "音は秒速約３４０ｍなので、|音は光よりずっと遅いため、",
                    "音が後から聞こえます。|音が遅れて届きます。|光が先に見えて音は後になります。|"
                    "雷鳴はあとから耳に届きます。|音だけが遅れて届くのです。",
                    "遅れが3秒なら、距離は約1kmです。||音までの秒数に340を掛けると、およその距離が分かります。|"
                    "時間の差から雷までの距離も分かります。|遠い雷ほど、この差は大きくなります。|"
                    "遅れが短いほど、雷は近くにあります。",
                ],
            },
            "B": {
                "brief": (
                    "光と音では空気中を進む速度がまったく違うためです。|"
                    "音速は毎秒約340メートルで、光速には遠く及ばないからです。|"
                    "稲光はほぼ瞬時に見えますが、雷鳴は秒速約340mで伝わるためです。"
                ),
                "slots": [
                    "雷が光ってから音がするまでに間があくのは、|稲光のあとに雷鳴が聞こえるのは、|"
                    "ゴロゴロという音が後から来るのは、|ピカッと光った後に音が届くのは、|"
                    "光と雷鳴に時間の差が生じるのは、",
                    "光と音の伝わる速さが大きく違うためです。|光と音で空気中を伝わる速度が異なるからです。|"
                    "音の速さが光に比べてとても遅いからです。|音の進む速度が光の約90万分の1しかないためです。|"
                    "光の速度が音の速度をはるかに上回るためです。",
                    "光はほとんど遅れずに目に入りますが、|稲光は発生とほぼ同時に見えますが、|"
                    "光は毎秒約30万キロメートルで届きますが、|光のほうは一瞬で目に届くのに対し、|"
                    "光は1秒間に地球を約7周半も進みますが、",
                    "音は秒速約340mで、1km進むのに約3秒かかります。|音は秒速約340mなので、遅れて耳に届きます。|"
                    "音は1秒間に約340mしか進めず、到着が遅れます。|音は気温15度で秒速約340mにとどまります。|"
                    "音は毎秒約340メートルで、数キロ先なら何秒も遅れます。|"
                    "雷鳴が空気中を進む速さは秒速340mほどです。",
                    "||光って5秒後に聞こえた雷は、約1.7km先にあります。|"
                    "この時間差を使うと、雷までの距離を見積もれます。|差が短いときは雷が近く、注意が必要です。",
                ],
            },
        },
    },
    {
        "question": "秋になると木の葉が赤く色づくのはなぜ？",
        "category": "biology",
        "note": "気温が下がると緑の葉緑素が分解され、糖から赤いアントシアニンが作られる。黄色はカロテノイド。",
        "keywords": [
            {"or": [{"t": "クロロフィル"}, {"t": "葉緑素"}]},
            {"t": "アントシアニン"},
            {
                "or": [{"t": "気温"}, {"and": [{"t": "秋"}, {"t": "寒|冷え"}]}],
                "name": "秋の冷え込み",
                "importance": 0.3,
            },
        ],
        "sample": "秋になって気温が下がると、葉の緑色のもとである葉緑素（クロロフィル）が分解されます。"
        "そして葉に残った糖からアントシアニンという赤い色素が作られるため、緑色だった葉が赤く色づいて見えるのです。",
        "sets": {
            "A": {
                "brief": (
                    "緑の葉緑素が壊れ、赤いアントシアニンが作られるからです。|"
                    "気温が下がり、葉にアントシアニンという赤い色素が増えるためです。|"
                    "寒くなると緑の色素が減り、赤い色素が増えるからです。"
                ),
                "slots": [
                    "秋に気温が下がると、|気温が低くなると、|秋になって冷え込むと、|朝晩の気温が下がる秋には、|"
                    "日が短くなり気温が下がると、|秋が深まって寒くなると、",
                    "葉の緑色のもとになる葉緑素が分解され、|緑の色素であるクロロフィルが壊れ、|"
                    "葉の中のクロロフィルが分解され、|緑色を示す葉緑素が減り、|葉では葉緑素がこわれて緑色が薄れ、",
                    "代わりに赤い色素のアントシアニンが作られます。|"
                    "残った糖からアントシアニンという赤い色素ができます。|糖を材料にアントシアニンが増えます。|"
                    "赤い色のアントシアニンがたまっていきます。|葉にたまった糖が赤いアントシアニンに変わります。",
                    "そのため葉が赤く見えます。|これが紅葉です。|この変化で葉は赤く染まります。||"
                    "こうして緑の葉が赤くなります。",
                    "|イチョウなどの黄色は、もとからあるカロテノイドの色です。|"
                    "赤くなる木には、カエデやナナカマドがあります。|"
                    "昼と夜の温度差が大きい年は、色が鮮やかになります。|"
                    "黄葉はカロテノイドが目立つために起こります。|黄色くなる木では、カロテノイドの色が現れます。",
                ],
            },
            "B": {
                "brief": (
                    "気温の低下でクロロフィルが失われ、アントシアニンが合成されるためです。|"
                    "葉緑素の緑色が消え、糖から生じたアントシアニンの赤色が目立つためです。|"
                    "冷え込みとともに葉の色素の組み合わせが変わるためです。"
                ),
                "slots": [
                    "葉が緑に見えるのは、クロロフィルを多く含むためです。|"
                    "夏の葉は、葉緑素を豊富に含むため緑色をしています。|"
                    "夏の葉では、光合成を担うクロロフィルの緑色が目立ちます。|"
                    "落葉樹の葉は、葉緑素によって春から夏まで緑色に見えます。|"
                    "木々の葉の緑色は、光合成に使われる葉緑素によるものです。",
                    "秋に気温が下がると|秋になり気温と日照が減ると|秋が来て冷え込みが強まると|"
                    "最低気温が8度を下回るころには|昼が短くなり気温も低くなると",
                    "この色素が分解され、|これが分解されて緑色が失われ、|その量が減っていき、|"
                    "この緑の成分が壊れはじめ、|葉の付け根に離層ができてこの色素も壊れ、",
                    "葉に残った糖分からアントシアニンが合成されて赤くなります。|"
                    "光を受けて赤いアントシアニンが作られ、葉が赤くなります。|"
                    "糖類をもとにできる赤色色素アントシアニンが目立ってきます。|"
                    "代わってアントシアニンが生成され、赤色が表に出てきます。|"
                    "新たに作られたアントシアニンによって真っ赤に染まります。",
                    "||黄色に変わる葉は、カロテノイドが残って見えるものです。|"
                    "やがて葉は枝を離れ、木は冬を越す準備に入ります。|"
                    "寒暖の差が大きく、日当たりの良い場所ほど美しく色づきます。",
                ],
            },
        },
    },
    {
        "question": "うるう年について教えて。",
        "category": "astronomy",
        "note": "4で割り切れる年は366日。ただし100で割り切れて400で割り切れない年は平年（グレゴリオ暦）。",
        "keywords": [
            {"t": "[4４四]年に[1１一][度回]|[4４]で割り切れる", "name": "4年に1度"},
            {"or": [{"t": "366|３６６"}, {"t": "([2２]月)(29|２９)日"}, {"t": "29日"}]},
            {"and": [{"t": "(^|[^0-9])100"}, {"t": "(^|[^0-9])400"}], "name": "100年と400年の例外", "importance": 0.4},
        ],
        "sample": "うるう年は、2月29日を加えて1年を366日とする年で、ほぼ4年に1度あります。"
        "地球の公転が365日より約6時間長く、暦と季節がずれるのを防ぐためです。ただし、100で割り切れて400で割り切れない年は平年とします。",
        "sets": {
            "A": {
                "brief": (
                    "うるう年は、1年が366日ある年で、4年に1度あります。|4年に1度、2月29日がある年のことです。|"
                    "暦のずれを直すために、2月を29日までとする年のことです。"
                ),
                "slots": [
                    "うるう年は、|うるう年とは、|閏年（うるうどし）は、|うるう年というのは、",
                    "1年が366日ある年で、|2月が29日まである年で、|2月29日が加えられる年で、|"
                    "暦に1日を足して366日とする年で、|2月を1日増やして３６６日にする年で、",
                    "ほぼ4年に1度あります。|原則として4年に1度めぐってきます。|基本的に4年に一度やってきます。|"
                    "西暦が4で割り切れる年がこれに当たります。|通常は４年に１回あります。",
                    "地球の公転が約365.24日で、暦とずれるためです。|暦と季節がずれるのを避けるための工夫です。|"
                    "1年の端数約0.24日を調整するのが目的です。|"
                    "地球が太陽を回る時間は365日より約6時間長く、その分を補います。|",
                    "ただし、100で割り切れて400で割り切れない年は平年です。|"
                    "ただし100年ごとの年は、400で割り切れる場合だけ該当します。|"
                    "100の倍数でも400の倍数でない年は除かれます。|ただし1900年は平年で、2000年はうるう年でした。|"
                    "400年間に97回あり、100の倍数の年には例外があります。|",
                ],
            },
            "B": {
                "brief": (
                    "平年より1日多い366日からなる年で、おおむね4年に1度訪れます。|"
                    "2月の日数を29日とし、暦を地球の公転に合わせる年のことです。|"
                    "4年に1回、1年の長さを366日として季節とのずれを正す仕組みです。"
                ),
                "slots": [
                    "うるう年とは、|うるう年は、|閏年とは、|暦でいううるう年は、",
                    "平年より1日多い366日の年のことです。|2月29日が設けられる年を指します。|"
                    "2月が29日まであり、366日からなる年です。|季節とのずれを正すため、2月29日を入れる年です。|"
                    "カレンダーに1日を加え、366日とした年です。",
                    "地球の公転には365日と約5時間49分かかるため、|太陽を地球が一周する時間は約365.2422日なので、|"
                    "季節が一巡する長さは365日ちょうどではないので、|1太陽年は365日より6時間近く長いため、|"
                    "公転の周期に1日未満の端数があるため、",
                    "およそ4年に1度の調整が必要になります。|4年に1回、暦に1日を足して合わせます。|"
                    "ほぼ4年に一度、余った分を1日にまとめます。|4年に1度ほど、2月に1日を加えています。|"
                    "４年に１度の割合で日数を増やします。",
                    "西暦が100の倍数の年は、400の倍数でなければ平年とします。|"
                    "今の暦では、100で割り切れても400で割り切れない年は除きます。|"
                    "100の倍数でも、2000年は400で割り切れるのでうるう年でした。|"
                    "400年に97回の割合とし、100で割り切れる年を例外的に扱います。|"
                    "2100年は4で割り切れますが、例外として平年になります。|",
                ],
            },
        },
    },
    {
        "question": "QRコードとは何ですか？",
        "category": "technology",
        "note": "1994年にデンソー（現在のデンソーウェーブ）が開発した二次元コード。QRはQuick Responseの略。",
        "keywords": [
            {"t": "^(QR|ＱＲ)コード", "importance": 0.2},
            {"t": "[二2２]次元"},
            {"t": "(1994|１９９４)年", "name": "開発された年"},
            {"or": [{"t": "デンソー"}, {"t": "日本"}], "importance": 0.5},
        ],
        "sample": "QRコードは、1994年に日本のデンソーが開発した二次元コードです。縦と横の両方に情報を持つため、"
        "バーコードより多くの文字を記録できます。三隅の目印によって速く読み取れ、決済や電子チケットなどに使われています。",
        "sets": {
            "A": {
                "brief": (
                    "QRコードは、1994年に日本で開発された二次元コードです。|"
                    "縦横に情報を持つ、四角い模様の二次元コードです。|デンソーが1994年に作った二次元コードです。"
                ),
                "slots": [
                    "QRコードは、|QRコードとは、|ＱＲコードは、",
                    "縦と横に情報を持つ二次元コードで、|白黒の模様で情報を表す二次元コードで、|"
                    "四角い模様に文字や数字を記録する2次元コードで、|小さな点の並びで情報を表す二次元コードで、|"
                    "バーコードより多くの情報を持てる二次元コードで、",
                    "1994年に日本のデンソーが開発しました。|1994年にデンソーの開発部門が発明しました。|"
                    "1994年に日本で生まれました。|デンソーが1994年に発表しました。|"
                    "日本のデンソーが1994年に開発したものです。",
                    "三隅の四角い印により、向きに関係なく読めます。|汚れて一部が欠けても、誤り訂正で読み取れます。|"
                    "名前は、素早い反応を意味する英語に由来します。||スマートフォンのカメラで簡単に読み取れます。|"
                    "3つの角に目印があり、どの向きからでも速く読めます。",
                    "支払いやチケットなどに広く使われています。||電子決済やウェブサイトへの案内に使われます。|"
                    "今では決済や入場券などに利用されています。|部品の管理から始まり、今は決済にも使われます。",
                ],
            },
            "B": {
                "brief": (
                    "QRコードは、1994年に登場した日本発のマトリックス型二次元コードです。|"
                    "デンソーの技術者が1994年に開発し、世界に広まった二次元コードです。|"
                    "クイック・レスポンスの頭文字を名に持つ、日本生まれの二次元コードです。"
                ),
                "slots": [
                    "QRコードは、|QRコードとは、|ＱＲコードは、",
                    "デンソーの技術者らが1994年に生み出した|1994年にデンソー（現デンソーウェーブ）が開発した|"
                    "1994年に日本の自動車部品メーカーが開発した|日本で生まれ、1994年に公開された|"
                    "「高速な応答」という名を持ち、1994年に登場した",
                    "二次元コードです。|マトリックス型の二次元コードです。|2次元コードの一種です。|"
                    "正方形の二次元コードです。",
                    "縦横の両方向にデータを並べるため、|横方向だけを使うバーコードと違い、|"
                    "白と黒の細かなマスを敷き詰めて、|小さな正方形を格子状に並べて、|情報を面として配置するので、",
                    "数字なら最大7,089文字を記録できます。|漢字を含む多くの文字を小さな面積に収められます。|"
                    "従来の数十倍から数百倍の情報を扱えます。|英数字で最大4,296文字まで格納できます。|"
                    "バイナリデータも含めて大量の情報を表せます。",
                    "|誤り訂正機能があり、最大で約30％が損なわれても復元できます。|"
                    "三つの隅の切り出しシンボルが、高速な読み取りを助けます。||"
                    "キャッシュレス決済や電子チケットなど、用途は広がっています。|"
                    "仕様が公開され、誰でも自由に使えるため、世界中に普及しました。",
                ],
            },
        },
    },
    {
        "question": "風呂敷について教えて。",
        "category": "culture",
        "note": "物を包む四角い布。名は風呂で脱いだ衣類を包んだことに由来するとされる。繰り返し使える。",
        "keywords": [
            {"t": "布"},
            {"t": "包[みむんめ装]"},
            {
                "and": [
                    {"or": [{"t": "繰り返し"}, {"t": "何度も"}]},
                    {"or": [{"t": "袋|バッグ"}, {"t": "エコ|環境|ごみ"}]},
                ],
                "name": "くり返し使える良さ",
                "importance": 0.4,
            },
        ],
        "sample": "風呂敷は、物を包んで運ぶための四角い布です。"
        "江戸時代に、銭湯で脱いだ衣類を包んだことからこの名が付いたとされます。"
        "結び方しだいで瓶や箱も包め、繰り返し使えるため、環境にやさしい袋の代わりとしても見直されています。",
        "sets": {
            "A": {
                "brief": (
                    "風呂敷は、物を包んで運ぶための四角い布です。|いろいろな形の物を包める、日本の正方形の布です。|"
                    "物を包む布で、袋の代わりに何度も使えます。"
                ),
                "slots": [
                    "風呂敷は、|風呂敷とは、|日本の風呂敷は、",
                    "物を包む四角い布です。|荷物を包んで運ぶための正方形の布です。|"
                    "品物を包むのに使う四角い布のことです。|持ち物を包んだり運んだりする布です。|"
                    "昔から使われてきた、物を包む布です。|物を包んだりしまったりするための布です。",
                    "江戸時代に銭湯で衣類を包んだことから名が付いたとされます。|"
                    "名前は、風呂で脱いだ服を包んだことに由来するといわれます。||"
                    "風呂場で敷いたり着物を包んだりしたのが名の由来とされます。|"
                    "江戸の銭湯で広まったと考えられています。|模様では唐草がよく知られています。",
                    "結び方を変えれば瓶や箱も包め、|形の違う物でも一枚で包め、|丸いすいかから細い瓶まで包め、|"
                    "使わないときは小さく畳め、|大きさや形を選ばず包め、|手軽に持ち歩くことができ、",
                    "何度も使えるので環境にやさしい品です。|"
                    "繰り返し使えるため、エコバッグとしても見直されています。|レジ袋の代わりに何度も使えます。|"
                    "繰り返し使えて、ごみを減らせます。|袋の代わりに繰り返し使えます。|贈り物の包装にも使われます。",
                ],
            },
            "B": {
                "brief": (
                    "風呂敷とは、一枚で多様な品物を包み、持ち運べる日本伝統の布です。|"
                    "結び方を工夫して荷物を包む、ほぼ正方形の布のことです。|"
                    "贈答品などを包むための布で、何度も使えるエコな包装でもあります。"
                ),
                "slots": [
                    "風呂敷は、|風呂敷とは、|日本の風呂敷は、|風呂敷というのは、",
                    "贈答品や荷物を包んで持ち運ぶ、ほぼ正方形の布です。|"
                    "一枚の布で品物を包み、運んだり保管したりする道具です。|"
                    "暮らしの中で長く用いられてきた、物を包むための布です。|"
                    "包む物に合わせて結び方を変えて使う、伝統的な布です。|"
                    "様々な形の品を包み込める、一枚の四角い布です。",
                    "脱いだ着物を風呂屋で包んだことから、この呼び名が広まりました。||"
                    "古くは平包みといい、江戸時代に今の名が定着したとされます。|"
                    "江戸時代には、銭湯の客や行商の商人の間に普及しました。|"
                    "風呂に敷いた布という意味から、現在の名になったと伝えられます。",
                    "お使い包みや瓶包みなど包み方が多く、|唐草模様をはじめ柄も豊富で、|"
                    "軽くて薄く、折り畳んで携帯でき、|素材は綿や絹、化学繊維など多彩で、|"
                    "紙の包みと違って破れにくく、",
                    "使い捨ての袋に代わるものとして何度も利用できます。|"
                    "繰り返し使えるため、環境への負担が少ない品です。|"
                    "近年は何度も使えるエコな包装として人気があります。|"
                    "繰り返し使えて、買い物袋としても役立ちます。|"
                    "現代ではバッグやインテリアとしても活用されています。",
                ],
            },
        },
    },
    {
        "question": "豆腐はどうやって作るの？",
        "category": "food",
        "note": "水に浸した大豆をすりつぶして煮、搾った豆乳をにがりなどの凝固剤で固める。搾りかすがおから。",
        "keywords": [
            {"t": "大豆"},
            {"t": "豆乳"},
            {"or": [{"t": "にがり"}, {"t": "塩化マグネシウム|凝固剤"}], "name": "固めるもの", "importance": 0.7},
            {"and": [{"t": "おから"}, {"t": "[搾絞]|こし"}], "importance": 0.3},
        ],
        "sample": "豆腐を作るには、まず一晩水に浸した大豆をすりつぶして煮ます。それを布で搾って豆乳とおからに分け、"
        "温かい豆乳ににがりを加えて固めます。型箱に入れて重しをし、水を切れば木綿豆腐のできあがりです。",
        "sets": {
            "A": {
                "brief": (
                    "大豆から搾った豆乳を、にがりで固めて作ります。|"
                    "水に浸した大豆をつぶして搾り、豆乳に凝固剤を入れて固めます。|"
                    "大豆を煮て搾り、おからを除いた豆乳をにがりで固めます。"
                ),
                "slots": [
                    "豆腐を作るには、まず|豆腐は、まず|まず、|豆腐づくりでは、はじめに",
                    "水に浸した大豆をすりつぶして煮ます。|一晩水につけた大豆を細かく砕いて煮ます。|"
                    "大豆を水でふやかし、すりつぶして加熱します。|水を吸わせた大豆をつぶし、火にかけます。|"
                    "大豆を一晩ほど水に浸け、ミキサーなどで砕いて煮ます。",
                    "それを布で搾っておからを除き、|これを搾って豆乳とおからに分け、|布でこしておからを取り除き、|"
                    "熱いうちに搾り、おからを分けて、|煮汁を搾って、おからと分けたら、",
                    "豆乳ににがりを加えて固めます。|豆乳に凝固剤のにがりを混ぜて固めます。|"
                    "温かい豆乳をにがりで固めます。|にがりを入れた豆乳を型に流して固めます。|"
                    "豆乳に塩化マグネシウムなどの凝固剤を入れて固めます。",
                    "重しをして水を抜くと木綿豆腐ができます。||型箱で水を切ると木綿豆腐になります。|"
                    "濃い豆乳をそのまま固めたものが絹ごし豆腐です。|最後に水にさらして切り分けます。",
                ],
            },
            "B": {
                "brief": (
                    "豆腐は、大豆から得た豆乳に凝固剤を混ぜ、固めて作られます。|"
                    "ふやかした大豆を挽いて煮て、搾った豆乳ににがりを打って固めます。|"
                    "大豆のたんぱく質を、にがりのはたらきで固めて作ります。"
                ),
                "slots": [
                    "豆腐の原料は大豆と水、それににがりなどの凝固剤です。|"
                    "豆腐は、大豆から取った豆乳を固めた食品です。|大豆のたんぱく質をにがりで固めたものが豆腐です。|"
                    "豆腐は、大豆を原料とする日本でおなじみの食品です。|"
                    "豆腐は、大豆のたんぱく質が固まる性質を生かした食べ物です。",
                    "まず||はじめに|作るときは、",
                    "一晩ほど水を吸わせた豆をすりつぶし、|水に浸して柔らかくした豆を細かく砕き、|"
                    "洗った豆を半日ほど水につけてから挽き、|十分にふやかした豆に水を加えてすり、",
                    "煮てから搾って豆乳とおからに分けます。|加熱した後、布でこして豆乳とおからに分けます。|"
                    "煮立てたものを搾り、おからを除いて豆乳を得ます。|"
                    "できた「呉」を煮て搾り、豆乳とおからに分離します。|"
                    "火を通したあと、絞って豆乳だけを取り出します。",
                    "温めた豆乳に凝固剤を混ぜると、ゆっくり固まります。|"
                    "その豆乳ににがりを加え、静かに置いて固めます。|"
                    "70度から80度ほどの豆乳ににがりを加えて固めます。|"
                    "豆乳ににがりを打つと、たんぱく質が寄り集まって固まります。|"
                    "そこへ凝固剤としてにがりを入れ、型に移します。",
                    "||崩して型に入れ、重しで水を切れば木綿豆腐です。||"
                    "濃い豆乳をなめらかに固めれば、絹ごし豆腐になります。|"
                    "木綿豆腐は、さらに圧力をかけて水を抜きます。",
                ],
            },
        },
    },
    {
        "question": "Why does ice float on water?",
        "unit": "token",
        "tokenizer": "words",
        "category": "chemistry",
        "note": "Hydrogen bonds hold the molecules of ice in an open lattice: about 9% more volume, 0.92 g/cm³.",
        "keywords": [
            {"t": "[Dd]ens(e|ity)", "name": "lower density"},
            {
                "or": [
                    {"t": "[Hh]ydrogen bond(s|ing)"},
                    {"and": [{"t": "molecules?"}, {"t": "lattice|crystal|apart|space"}]},
                ],
                "name": "open structure",
            },
            {"t": "\\b9 ?(%|percent)", "name": "9%", "importance": 0.2},
        ],
        "sample": "Ice floats because it is less dense than water: it fills 9% more space, "
        "since hydrogen bonds hold its molecules in an open lattice.",
        "sets": {
            "A": {
                "brief": (
                    "Ice is less dense than liquid water.|Ice floats because water expands by 9% when it freezes.|"
                    "Ice has a lower density, as its molecules sit further apart."
                ),
                "slots": [
                    "Ice floats because it is less dense than water.|Ice is less dense than water, so it floats.|"
                    "Ice floats as its density is lower.|Ice has a lower density, so it floats.|"
                    "Water gets less dense as it freezes.|Solid ice is less dense than liquid water.",
                    " Its molecules| The molecules| In ice, molecules| Frozen molecules| Its frozen molecules|"
                    " In it, molecules",
                    " form an open lattice| sit further apart| line up in a loose crystal|"
                    " keep more space between them| build a roomy lattice| stay in a wide lattice|"
                    " leave gaps in the crystal",
                    "| due to hydrogen bonds|| because of hydrogen bonding",
                    " and take up 9% more room.|, so ice is 9% larger.|.| and fill about 9% more space.|"
                    ", adding 9 percent in volume.|, making ice 9% bigger.",
                ],
            },
            "B": {
                "brief": (
                    "Freezing makes water expand, which lowers its density.|"
                    "Hydrogen bonds spread the molecules of ice, so it is less dense.|"
                    "Because water, unlike most liquids, swells by about 9% on freezing."
                ),
                "slots": [
                    "Water swells by 9% on freezing:|Water expands as it freezes:|Freezing makes water expand:|"
                    "Unlike most liquids, freezing water expands:|Water grows by 9% as it turns solid:|"
                    "Freezing adds 9 percent in volume:",
                    " hydrogen bonds spread it out| hydrogen bonds fix it in a lattice|"
                    " its molecules settle into a roomy lattice| hydrogen bonding opens up the crystal|"
                    " its molecules form open crystal rings| hydrogen bonds push its molecules apart",
                    ", so ice is less dense|, so ice has a lower density|, so solid ice is less dense|"
                    ", so ice is not as dense",
                    " and floats.| and stays on top.| and floats on water.| and rises.| and does not sink.",
                    "||| Lakes freeze from the top.| Icebergs show the same.",
                ],
            },
        },
    },
    {
        "question": "How does a microwave oven heat food?",
        "unit": "token",
        "tokenizer": "words",
        "category": "technology",
        "note": "Microwaves (2.45 GHz in household ovens) keep turning polar water molecules; the motion becomes heat.",
        "keywords": [
            {"t": "[Ww]ater"},
            {
                "and": [{"t": "molecules"}, {"or": [{"t": "rotat(e|es|ing)"}, {"t": "spin|turn|twist|flip"}]}],
                "name": "moving molecules",
            },
            {"t": "heat|warm"},
            {"t": "2[.]45 ?GHz", "importance": 0.2},
        ],
        "sample": "A microwave oven heats food with 2.45 GHz waves: they make the water molecules in it rotate, "
        "and this motion spreads as heat.",
        "sets": {
            "A": {
                "brief": (
                    "Microwaves make the water in food hot.|"
                    "It uses microwaves that make water molecules spin and heat up.|"
                    "Its 2.45 GHz waves turn water molecules to and fro, and this makes heat."
                ),
                "slots": [
                    "A microwave oven|The oven|A microwave|It",
                    " uses 2.45 GHz waves| sends out microwaves| makes microwaves of 2.45 GHz| uses microwaves|"
                    " sends out 2.45 GHz microwaves| fills its chamber with microwaves",
                    " that make water molecules| that make the food's water molecules|"
                    " which make water molecules in food| to make the water molecules",
                    " rotate| spin| rotate rapidly| turn back and forth| twist to and fro",
                    ", and this motion becomes heat.|, which heats the food.|; the motion turns into heat.|"
                    ", and that warms the food.|, and their motion heats the food.",
                ],
            },
            "B": {
                "brief": (
                    "Electromagnetic waves rotate the water molecules in food, and it warms up.|"
                    "By a rapidly changing electric field at 2.45 GHz that moves water molecules.|"
                    "A magnetron makes waves that set water molecules spinning, which creates heat."
                ),
                "slots": [
                    "A magnetron creates microwaves|Its magnetron gives off microwaves|A magnetron generates waves|"
                    "A tube, the magnetron, emits waves",
                    " at 2.45 GHz| of about 2.45 GHz|| near 2.45 GHz",
                    ", whose field|. Their changing field|, and their electric field|. Their field",
                    " spins water molecules| keeps rotating water molecules| turns the food's water molecules|"
                    " flips polar water molecules| makes water molecules rotate",
                    "; this motion becomes heat.| and so heats the food.|; colliding, they produce heat.|"
                    " and thereby warms the food.|; their energy ends up as heat.",
                ],
            },
        },
    },
]


def draw(total, *key):
    """Return an integer in range(total) that depends only on the key."""
    return int(hashlib.sha1("/".join(map(str, key)).encode()).hexdigest(), 16) % total


def pick(listed, *key):
    """Pick a variant; the weights decrease with its rank: 30, 20, 15, 12, 10, 8, 7, 6, ..."""
    variants = listed.split("|")
    ranks = [rank for rank in range(len(variants)) for _ in range(60 // (rank + 2))]
    return variants[ranks[draw(len(ranks), *key)]]


def make_answer(grammar, *key):
    """Return one reference answer."""
    if draw(BRIEF_EVERY, *key, "is brief") == 0:
        return pick(grammar["brief"], *key, "brief")
    return "".join(pick(listed, *key, slot) for slot, listed in enumerate(grammar["slots"]))


def make_raw(folder):
    """Write raw answers to all questions, one file for each reference set."""
    for name in SETS:
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for number, content in enumerate(QUESTIONS, start=1):
                for row in range(RAW_ANSWERS):
                    answer = make_answer(content["sets"][name], f"Q{number:02}", name, row)
                    line = {"question": content["question"], "answer": answer}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")


def make_config(folder):
    """Write the config of the build and return its path."""
    lines = ['suite = "mini"', 'seed = "mini"', "[sets]", *(f'{name} = "{name}.jsonl"' for name in SETS)]
    lines += ["[length]", 'keep = "all"', "[select]", f"size = {ANSWERS_PER_SET}"]
    for content in QUESTIONS:
        lines.append("[[question]]")
        lines += [f"{key} = {toml(value)}" for key, value in content.items() if key != "sets"]
    path = folder / "mini.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def toml(value):
    """Return a JSON value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def make_files():
    """Return the suite as {file name: bytes}."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_raw(folder)
        built = build_suite(read_config(make_config(folder)))
        for problem in built.problems:
            raise SystemExit(problem)
        return {path.name: path.read_bytes() for path in (folder / "mini").iterdir()}


def differing_files(folder, files):
    """Return the names of files that are missing or different, and of unexpected question files."""
    stray = {path.name for path in folder.glob("Q*.json")} - files.keys()
    changed = {
        name for name, data in files.items() if not (folder / name).is_file() or (folder / name).read_bytes() != data
    }
    return sorted(stray | changed)


def main():
    parser = argparse.ArgumentParser(description="Write the packaged suite `mini`.")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER, help="where to write")
    parser.add_argument("--check", action="store_true", help="compare with the files on disk instead of writing")
    args = parser.parse_args()

    files = make_files()
    if args.check:
        differing = differing_files(args.folder, files)
        for name in differing:
            print(f"differs: {args.folder / name}", file=sys.stderr)
        return 1 if differing else 0

    args.folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (args.folder / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
