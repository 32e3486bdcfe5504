using Salus.Nbd.Exports;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>INFO and GO. Data: length of the name 4, name, number of requests 2, requests 2 each.</summary>
internal static class InfoOption
{
    public static OptionOutcome AnswerInfo(HandshakeState state, ReadOnlySpan<byte> data)
    {
        if (Find(state, OptionCode.Info, data, out var requests) is { } mount)
            Tell(state, OptionCode.Info, mount, requests);
        return OptionOutcome.NextOption;
    }

    /// <summary>The volume is mounted before the answer, so that a volume that cannot be is refused with a
    /// reason.</summary>
    public static async ValueTask<OptionOutcome> AnswerGoAsync(
        HandshakeState state, ReadOnlyMemory<byte> data, CancellationToken cancellationToken)
    {
        if (Find(state, OptionCode.Go, data.Span, out var requests) is not { } mount) return OptionOutcome.NextOption;
        try
        {
            await state.ChooseAsync(mount, cancellationToken).ConfigureAwait(false);
        }
        catch (VolumeException e)
        {
            OptionReplies.Error(state.Output, OptionCode.Go,
                e.Fault == VolumeFault.LeaseLost ? OptionReply.Shutdown : OptionReply.Unknown, e.Message);
            return OptionOutcome.NextOption;
        }

        Tell(state, OptionCode.Go, mount, requests);
        return OptionOutcome.Transmit;
    }

    private static ExportMount? Find(
        HandshakeState state, OptionCode option, ReadOnlySpan<byte> data, out List<InfoKind> requests)
    {
        if (!TryParse(data, out var name, out requests))
        {
            OptionReplies.Error(state.Output, option, OptionReply.Invalid, $"the data of {option} is malformed");
            return null;
        }

        if (state.Exports.Find(name) is { } mount) return mount;
        OptionReplies.Error(state.Output, option, OptionReply.Unknown,
            name.Length == 0 ? "there are several exports; name one" : "there is no such export; LIST names all");
        return null;
    }

    private static bool TryParse(ReadOnlySpan<byte> data, out string name, out List<InfoKind> requests)
    {
        requests = [];
        var reader = new OptionReader(data);
        if (!reader.TryReadString(out name) || !reader.TryRead(out ushort count)) return false;
        for (var i = 0; i < count; i++)
        {
            if (!reader.TryRead(out ushort kind)) return false;
            requests.Add((InfoKind)kind);
        }

        return reader.IsAtEnd;
    }

    // Unknown requests are ignored.
    private static void Tell(HandshakeState state, OptionCode option, ExportMount mount, List<InfoKind> requests)
    {
        var (output, export) = (state.Output, mount.Export);
        OptionReplies.ExportInfo(output, option, export.Source.Size, state.FlagsOf(mount));
        if (requests.Contains(InfoKind.Name)) OptionReplies.TextInfo(output, option, InfoKind.Name, export.Name);
        if (requests.Contains(InfoKind.Description))
            OptionReplies.TextInfo(output, option, InfoKind.Description, export.Description);
        if (requests.Contains(InfoKind.BlockSize))
            OptionReplies.BlockSizeInfo(output, option, export.Source.BlockSize, NbdServerOptions.MaxRequest);
        OptionReplies.Ack(output, option);
    }
}
