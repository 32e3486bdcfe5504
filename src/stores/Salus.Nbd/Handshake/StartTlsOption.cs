using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>STARTTLS: acknowledged, then the connection goes on encrypted. There is no data.</summary>
internal static class StartTlsOption
{
    public static OptionOutcome Answer(HandshakeState state, ReadOnlySpan<byte> data, bool hasTls)
    {
        if (!hasTls)
            return Refuse(state, OptionReply.Unsupported, "this server has no certificate; connect without TLS");
        if (state.IsEncrypted) return Refuse(state, OptionReply.Invalid, "the connection is encrypted already");
        if (!data.IsEmpty) return Refuse(state, OptionReply.Invalid, "STARTTLS has no data");
        OptionReplies.Ack(state.Output, OptionCode.StartTls);
        return OptionOutcome.StartTls;
    }

    private static OptionOutcome Refuse(HandshakeState state, OptionReply error, string reason)
    {
        OptionReplies.Error(state.Output, OptionCode.StartTls, error, reason);
        return OptionOutcome.NextOption;
    }
}
