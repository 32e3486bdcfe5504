using System.Text;
using System.Threading.Channels;

namespace Corfu.Cli;

/// <summary>Appends lines, several at once, and prints each as it is acknowledged.</summary>
internal sealed class LineAppender(
    ICorfuLog log, ImmutableArray<StreamId> streams, int inFlight, TextWriter output, TextWriter error)
{
    // Bounded by what is in flight: every append in it has at most one line here.
    private readonly Channel<string> _acknowledged =
        Channel.CreateUnbounded<string>(new UnboundedChannelOptions { SingleReader = true });
    private readonly SemaphoreSlim _free = new(inFlight, inFlight);
    private Exception? _failure;
    private long _printed;
    private long _unknown;

    public async Task<int> RunAsync(TextReader input, CancellationToken cancellationToken)
    {
        var printing = PrintAsync();
        try
        {
            while (Volatile.Read(ref _failure) is null && await ReadLineAsync(input, cancellationToken) is { } line)
            {
                await _free.WaitAsync(cancellationToken);
                _ = AppendAsync(line, cancellationToken);
            }
        }
        catch (OperationCanceledException e)
        {
            _failure = e;
        }

        // A cancelled append ends at once, with its outcome unknown.
        for (var i = 0; i < inFlight; i++) await _free.WaitAsync(CancellationToken.None);
        _acknowledged.Writer.Complete();
        await printing;
        if (_failure is null) return ExitCode.Ok;
        var interrupted = cancellationToken.IsCancellationRequested;
        await error.WriteLineAsync(interrupted ? "Interrupted." : _failure.Message);
        await error.WriteLineAsync(
            $"Acknowledged and printed: {_printed}. In the log or not ('corfu log dump' shows): {_unknown}.");
        return interrupted ? ExitCode.Interrupted : ExitCode.Failed;
    }

    // A read of standard input cannot be cancelled: it is left behind, and ends with the process.
    private static Task<string?> ReadLineAsync(TextReader input, CancellationToken cancellationToken) =>
        Task.Run(input.ReadLine, CancellationToken.None).WaitAsync(cancellationToken);

    private async Task AppendAsync(string line, CancellationToken cancellationToken)
    {
        try
        {
            var result = await log.AppendAsync(Encoding.UTF8.GetBytes(line), streams, cancellationToken);
            if (result.Outcome == AppendOutcome.Unknown) Interlocked.Increment(ref _unknown);
            _acknowledged.Writer.TryWrite($"{result.Require()}\t{line}");
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            Interlocked.CompareExchange(ref _failure, e, null);
        }
        finally
        {
            _free.Release();
        }
    }

    private async Task PrintAsync()
    {
        var lines = new StringBuilder();
        while (await _acknowledged.Reader.WaitToReadAsync())
        {
            lines.Clear();
            var count = 0;
            for (; _acknowledged.Reader.TryRead(out var line); count++) lines.Append(line).Append('\n');
            await output.WriteAsync(lines);
            await output.FlushAsync();
            _printed += count;
        }
    }
}
