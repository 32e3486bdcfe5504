using System.Buffers;
using System.Buffers.Binary;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>EXPORT_NAME: the data is the name. Its answer has no way to tell an error, so that the connection ends
/// where there is one.</summary>
internal static class ExportNameOption
{
    // Behind size and flags, for clients that did not ask to be spared.
    private const int Zeroes = 124;

    public static async ValueTask<OptionOutcome> AnswerAsync(
        HandshakeState state, ReadOnlyMemory<byte> data, CancellationToken cancellationToken)
    {
        if (!OptionReader.TryDecode(data.Span, out var name) || state.Exports.Find(name) is not { } mount)
            return OptionOutcome.Close;
        await state.ChooseAsync(mount, cancellationToken).ConfigureAwait(false);
        Write(state.Output, mount.Export.Source.Size, state.FlagsOf(mount),
            state.ClientFlags.HasFlag(HandshakeFlags.NoZeroes) ? 0 : Zeroes);
        return OptionOutcome.Transmit;
    }

    private static void Write(IBufferWriter<byte> output, long size, TransmissionFlags flags, int zeroes)
    {
        var answer = output.GetSpan(10 + zeroes)[..(10 + zeroes)];
        answer.Clear();
        BinaryPrimitives.WriteInt64BigEndian(answer, size);
        BinaryPrimitives.WriteUInt16BigEndian(answer[8..], (ushort)flags);
        output.Advance(answer.Length);
    }
}
