using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>STRUCTURED_REPLY: reads are answered in chunks from then on. There is no data.</summary>
internal static class StructuredReplyOption
{
    public static OptionOutcome Answer(HandshakeState state, ReadOnlySpan<byte> data)
    {
        if (!data.IsEmpty)
        {
            OptionReplies.Error(
                state.Output, OptionCode.StructuredReply, OptionReply.Invalid, "STRUCTURED_REPLY has no data");
            return OptionOutcome.NextOption;
        }

        state.IsStructured = true;
        OptionReplies.Ack(state.Output, OptionCode.StructuredReply);
        return OptionOutcome.NextOption;
    }
}
