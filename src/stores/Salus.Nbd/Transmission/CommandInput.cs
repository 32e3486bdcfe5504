using System.Buffers;
using System.IO.Pipelines;
using Salus.Nbd.Limits;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Transmission;

/// <summary>The bytes of a client, as commands and their payloads. The connection reads; any thread may wake
/// it.</summary>
internal sealed class CommandInput(PipeReader reader, WaitClock clock, CancellationToken cancellationToken)
{
    /// <summary>Makes <see cref="ReadHeaderAsync"/>, or the next one, return.</summary>
    public void Wake() => reader.CancelPendingRead();

    /// <returns>False: there is none now, and <see cref="HasEnded"/> says whether one may come.</returns>
    /// <exception cref="InvalidDataException">The bytes are no command.</exception>
    public async ValueTask<(bool Found, RequestHeader Header)> ReadHeaderAsync()
    {
        while (true)
        {
            var read = await reader.ReadAsync(cancellationToken).ConfigureAwait(false);
            var buffer = read.Buffer;
            if (buffer.Length >= RequestHeader.Size)
            {
                var isCommand = RequestHeader.TryParse(buffer, out var header);
                reader.AdvanceTo(buffer.GetPosition(RequestHeader.Size));
                clock.EndFrame();
                return isCommand ? (true, header) : throw new InvalidDataException("the client sent no command");
            }

            if (!buffer.IsEmpty) clock.BeginFrame();
            reader.AdvanceTo(buffer.Start, buffer.End);
            HasEnded = read.IsCompleted;
            if (read.IsCompleted || read.IsCanceled) return default;
        }
    }

    /// <summary>The client has closed its side.</summary>
    public bool HasEnded { get; private set; }

    /// <exception cref="EndOfStreamException">The client closed its side within the payload.</exception>
    public async ValueTask ReadPayloadAsync(Memory<byte> into)
    {
        while (into.Length > 0)
        {
            var buffer = await ReadSomeAsync().ConfigureAwait(false);
            var part = buffer.Slice(0, Math.Min(buffer.Length, into.Length));
            part.CopyTo(into.Span);
            into = into[(int)part.Length..];
            reader.AdvanceTo(part.End);
        }

        clock.EndFrame();
    }

    /// <summary>Passes over the payload of a command that is refused.</summary>
    /// <inheritdoc cref="ReadPayloadAsync"/>
    public async ValueTask SkipPayloadAsync(long length)
    {
        while (length > 0)
        {
            var buffer = await ReadSomeAsync().ConfigureAwait(false);
            var part = buffer.Slice(0, Math.Min(buffer.Length, length));
            length -= part.Length;
            reader.AdvanceTo(part.End);
        }

        clock.EndFrame();
    }

    private async ValueTask<ReadOnlySequence<byte>> ReadSomeAsync()
    {
        while (true)
        {
            if (!reader.TryRead(out var read))
            {
                clock.BeginFrame();
                read = await reader.ReadAsync(cancellationToken).ConfigureAwait(false);
            }

            if (!read.Buffer.IsEmpty) return read.Buffer;
            reader.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted) throw new EndOfStreamException("the client closed the connection within a command");
        }
    }
}
