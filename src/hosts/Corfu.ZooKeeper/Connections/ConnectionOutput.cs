using System.IO.Pipelines;
using System.Threading.Channels;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Connections;

/// <summary>Packets of a connection: written into memory under the gate, and sent outside of it, as many at once as
/// there are.</summary>
/// <param name="onSent">Called under the gate when packets have left.</param>
internal sealed class ConnectionOutput(Lock gate, Action onSent)
{
    // The transport copies what it is given, and waits until the client takes it.
    private const int MostAtOnce = 64 << 10;

    private readonly Channel<bool> _wake = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    private readonly JuteWriter _first = new();
    private readonly JuteWriter _second = new();
    private bool _isFirst = true;
    private bool _isEnding;

    /// <summary>Takes packets. Guarded by the gate; <see cref="Wake"/> behind the last one.</summary>
    public JuteWriter Pending => _isFirst ? _first : _second;

    /// <summary>Bytes that the client has not taken: those under way too.</summary>
    public long Size => (long)_first.Length + _second.Length;

    /// <summary>Whether the client takes its packets more slowly than it may.</summary>
    public bool IsOverfull => Pending.Length > ConnectionLimits.OutputBytes;

    public void Wake() => _wake.Writer.TryWrite(true);

    /// <summary>Ends <see cref="RunAsync"/> behind the packets so far. Guarded by the gate.</summary>
    public void End()
    {
        _isEnding = true;
        Wake();
    }

    public async Task RunAsync(PipeWriter output, CancellationToken cancellationToken)
    {
        try
        {
            while (await _wake.Reader.WaitToReadAsync(cancellationToken))
            {
                _wake.Reader.TryRead(out _);
                var (sending, isLast) = Take();
                if (!await SendAsync(output, sending.WrittenMemory, cancellationToken)) return;
                lock (gate)
                {
                    sending.Clear();
                    onSent();
                }

                if (isLast) return;
            }
        }
        finally
        {
            Dispose();
        }
    }

    /// <returns>False: the client has gone.</returns>
    private static async ValueTask<bool> SendAsync(
        PipeWriter output, ReadOnlyMemory<byte> packets, CancellationToken cancellationToken)
    {
        while (!packets.IsEmpty)
        {
            var part = packets[..Math.Min(packets.Length, MostAtOnce)];
            if ((await output.WriteAsync(part, cancellationToken)).IsCompleted) return false;
            packets = packets[part.Length..];
        }

        return true;
    }

    private (JuteWriter Sending, bool IsLast) Take()
    {
        lock (gate)
        {
            var sending = Pending;
            _isFirst = !_isFirst;
            return (sending, _isEnding);
        }
    }

    private void Dispose()
    {
        lock (gate)
        {
            _first.Dispose();
            _second.Dispose();
            onSent();
        }
    }
}
