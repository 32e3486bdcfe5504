using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>ABORT: acknowledged, then the connection ends. Data is ignored.</summary>
internal static class AbortOption
{
    public static OptionOutcome Answer(HandshakeState state)
    {
        OptionReplies.Ack(state.Output, OptionCode.Abort);
        return OptionOutcome.Close;
    }
}
