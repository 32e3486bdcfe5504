using System.IO.Pipelines;
using Salus.Nbd.Limits;

namespace Salus.Nbd.Transmission;

/// <summary>The bytes to a client. A large reply leaves in pieces, so that a slow client holds the reply's memory
/// alone.</summary>
internal sealed class ReplyOutput(PipeWriter writer, WaitClock clock, CancellationToken cancellationToken)
{
    private const int Piece = 64 << 10;

    public PipeWriter Writer => writer;

    public async ValueTask WriteAsync(ReadOnlyMemory<byte> data)
    {
        while (data.Length > 0)
        {
            var piece = data[..Math.Min(data.Length, Piece)];
            piece.Span.CopyTo(writer.GetSpan(piece.Length));
            writer.Advance(piece.Length);
            data = data[piece.Length..];
            await PauseAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Lets bytes leave where there are many.</summary>
    public ValueTask PauseAsync() => writer.UnflushedBytes < Piece ? ValueTask.CompletedTask : FlushAsync();

    /// <exception cref="IOException">The client has gone.</exception>
    public async ValueTask FlushAsync()
    {
        var flush = writer.FlushAsync(cancellationToken);
        if (!flush.IsCompleted) clock.BeginWrite();
        var result = await flush.ConfigureAwait(false);
        clock.EndWrite();
        if (result.IsCompleted) throw new IOException("the client has closed the connection");
    }
}
