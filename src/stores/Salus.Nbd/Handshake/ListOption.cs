using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>LIST: an answer for each export. There is no data.</summary>
internal static class ListOption
{
    public static OptionOutcome Answer(HandshakeState state, ReadOnlySpan<byte> data)
    {
        if (!data.IsEmpty)
        {
            OptionReplies.Error(state.Output, OptionCode.List, OptionReply.Invalid, "LIST has no data");
            return OptionOutcome.NextOption;
        }

        foreach (var export in state.Exports.Exports)
            OptionReplies.Export(state.Output, OptionCode.List, export.Name, export.Description);
        OptionReplies.Ack(state.Output, OptionCode.List);
        return OptionOutcome.NextOption;
    }
}
