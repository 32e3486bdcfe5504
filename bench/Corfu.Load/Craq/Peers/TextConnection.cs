using System.Collections.Concurrent;
using System.IO.Pipelines;
using System.Net.Sockets;
using System.Threading.Channels;

namespace Corfu.Load;

/// <summary>A connection of a text protocol: requests of many callers in one stream, answers in the same order.
/// Requests that wait together are written together.</summary>
internal sealed class TextConnection : IAsyncDisposable
{
    // Bytes that are collected for one write.
    private const int BatchBytes = 64 << 10;

    private readonly TcpClient _tcp;
    private readonly NetworkStream _stream;
    private readonly TextDialect _dialect;
    private readonly Channel<(byte[] Request, TaskCompletionSource<int> Answer)> _requests =
        Channel.CreateUnbounded<(byte[], TaskCompletionSource<int>)>(
            new UnboundedChannelOptions { SingleReader = true });

    // Requests that were written, in order.
    private readonly ConcurrentQueue<TaskCompletionSource<int>> _open = new();
    private readonly Task _running;

    private TextConnection(TcpClient tcp, TextDialect dialect)
    {
        _tcp = tcp;
        _stream = tcp.GetStream();
        _dialect = dialect;
        _running = Task.WhenAll(Task.Run(WriteAsync), Task.Run(ReadAsync));
    }

    public static async Task<TextConnection> ConnectAsync(string host, int port, TextDialect dialect)
    {
        var tcp = new TcpClient { NoDelay = true };
        try
        {
            await tcp.ConnectAsync(host, port);
            return new TextConnection(tcp, dialect);
        }
        catch (SocketException e)
        {
            tcp.Dispose();
            throw new IOException($"No server at {host}:{port}: {e.Message}.", e);
        }
    }

    /// <returns>The bytes of a value, or <see cref="TextDialect.Stored"/>.</returns>
    /// <exception cref="CorfuException">The answer is another one, or the connection has ended.</exception>
    public Task<int> CallAsync(byte[] request)
    {
        var answer = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        if (!_requests.Writer.TryWrite((request, answer))) answer.TrySetException(Ended());
        return answer.Task;
    }

    public async ValueTask DisposeAsync()
    {
        _requests.Writer.TryComplete();
        _tcp.Dispose();
        await _running;
    }

    private static CorfuException Ended() => new("The connection to the server has ended.");

    private async Task WriteAsync()
    {
        var batch = new MemoryStream();
        try
        {
            while (await _requests.Reader.WaitToReadAsync())
            {
                batch.SetLength(0);
                while (batch.Length < BatchBytes && _requests.Reader.TryRead(out var next))
                {
                    _open.Enqueue(next.Answer);
                    batch.Write(next.Request);
                }

                await _stream.WriteAsync(batch.GetBuffer().AsMemory(0, (int)batch.Length));
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            End();
        }
    }

    private async Task ReadAsync()
    {
        var reader = PipeReader.Create(_stream);
        try
        {
            while (true)
            {
                var read = await reader.ReadAsync();
                var buffer = read.Buffer;
                while (_dialect.TryTake(ref buffer, out var outcome))
                {
                    if (!_open.TryDequeue(out var answer)) throw new IOException("An answer without a request.");
                    answer.TrySetResult(outcome);
                }

                reader.AdvanceTo(buffer.Start, buffer.End);
                if (read.IsCompleted) break;
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or CorfuException)
        {
            // The error is the answer of the oldest request; those behind it have none.
            if (e is CorfuException && _open.TryDequeue(out var answer)) answer.TrySetException(e);
        }

        End();
    }

    private void End()
    {
        // A request that the writer takes now fails, and ends here too.
        _tcp.Dispose();
        _requests.Writer.TryComplete();
        while (_requests.Reader.TryRead(out var waiting)) waiting.Answer.TrySetException(Ended());
        while (_open.TryDequeue(out var open)) open.TrySetException(Ended());
    }
}
