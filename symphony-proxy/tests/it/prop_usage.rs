//! What an answer used does not depend on how its bytes come, and no bytes do harm.

use proptest::prelude::*;
use symphony_proxy::{ANSWER_TOKENS_MAX, AnswerForm, TokenUse, UsageReader};

fn read<'a>(form: AnswerForm, chunks: impl IntoIterator<Item = &'a [u8]>) -> (TokenUse, bool) {
    let mut reader = UsageReader::new(form);
    chunks.into_iter().for_each(|chunk| reader.read(chunk));
    (reader.tokens(), reader.is_final())
}

fn form() -> impl Strategy<Value = AnswerForm> {
    prop_oneof![Just(AnswerForm::Json), Just(AnswerForm::Events)]
}

/// Pieces of answers, in any order.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "data: ",
        "data:",
        "event: x",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"usage\":{",
        "\"message\":{",
        "\"response\":{",
        "\"input_tokens\":",
        "\"output_tokens\":",
        "\"prompt_tokens\":",
        "\"input_tokens_details\":{",
        "\"cached_tokens\":",
        "\"usageMetadata\":{",
        "\"promptTokenCount\":",
        "12",
        "7.5",
        "-3",
        "9999999999999999999",
        "\"",
        "\\",
        "\\\"",
        "text",
        "null",
        " ",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_counts(
        form in form(),
        text in text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = text.as_bytes();
        let whole = read(form, [bytes]);
        let single: Vec<_> = bytes.chunks(1).collect();
        prop_assert_eq!(read(form, single), whole);
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.sort_unstable();
        ends.push(bytes.len());
        let mut start = 0;
        let chunks = ends.into_iter().map(|end| {
            let chunk = &bytes[start..end];
            start = end;
            chunk
        });
        prop_assert_eq!(read(form, chunks), whole);
    }

    #[test]
    fn an_answer_gives_its_counts_wherever_its_stream_is_cut(
        counts in prop::array::uniform3(0..=ANSWER_TOKENS_MAX),
        noise in "\\PC{0,200}",
    ) {
        let [input, output, cached] = counts;
        let noise = noise.replace(['"', '\\'], "'");
        let text = format!(
            "data: {{\"delta\":\"{noise}\"}}\n\ndata: {{\"message\":{{\"content\":[\"{noise}\"],\"usage\":{{\"input_tokens\":{input},\
             \"cache_read_input_tokens\":{cached},\"output_tokens\":1}}}}}}\n\ndata: {{\"usage\":{{\"output_tokens\":{output}}}}}\n\n"
        );
        let (tokens, is_final) = read(AnswerForm::Events, text.as_bytes().chunks(7));
        prop_assert_eq!((tokens.input, tokens.output, tokens.cache_read), (input, output.max(1), cached));
        prop_assert!(is_final);
        for end in 0..text.len() {
            let (cut, _) = read(AnswerForm::Events, [&text.as_bytes()[..end]]);
            prop_assert!(cut.input <= input && cut.output <= output.max(1) && cut.cache_read <= cached);
        }
    }

    #[test]
    fn no_bytes_do_harm(form in form(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (tokens, _) = read(form, bytes.chunks(3));
        prop_assert!(tokens.input <= 2 * ANSWER_TOKENS_MAX && tokens.output <= 2 * ANSWER_TOKENS_MAX);
    }
}
