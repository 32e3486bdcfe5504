using System.Collections.Immutable;
using System.Text;
using System.Threading.Channels;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Cli;

/// <summary>Appends lines, several at once, and prints each as it is acknowledged.</summary>
internal sealed class LineAppender(ICorfuLog log, ImmutableArray<StreamId> streams, int inFlight, TextWriter output, TextWriter error)
{
    // Bounded by what is in flight: every append in it has at most one line here.
    private readonly Channel<string> _acknowledged = Channel.CreateUnbounded<string>(new UnboundedChannelOptions { SingleReader = true });
    private readonly SemaphoreSlim _slots = new(inFlight, inFlight);
    private Exception? _failure;

    public async Task<int> RunAsync(TextReader input, CancellationToken cancellationToken)
    {
        var printing = PrintAsync();
        try
        {
            while (Volatile.Read(ref _failure) is null && await input.ReadLineAsync(cancellationToken) is { } line)
            {
                await _slots.WaitAsync(cancellationToken);
                _ = AppendAsync(line, cancellationToken);
            }
        }
        finally
        {
            // What was sent is waited for: its outcome must not be lost to an end of input or an interruption.
            for (var i = 0; i < inFlight; i++) await _slots.WaitAsync(CancellationToken.None);
            _acknowledged.Writer.Complete();
            await printing;
        }

        if (_failure is null) return ExitCode.Ok;
        await error.WriteLineAsync(_failure.Message);
        return ExitCode.Failed;
    }

    private async Task AppendAsync(string line, CancellationToken cancellationToken)
    {
        try
        {
            var result = await log.AppendAsync(Encoding.UTF8.GetBytes(line), streams, cancellationToken);
            _acknowledged.Writer.TryWrite($"{result.Require()}\t{line}");
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            Interlocked.CompareExchange(ref _failure, e, null);
        }
        finally
        {
            _slots.Release();
        }
    }

    private async Task PrintAsync()
    {
        var lines = new StringBuilder();
        while (await _acknowledged.Reader.WaitToReadAsync())
        {
            lines.Clear();
            while (_acknowledged.Reader.TryRead(out var line)) lines.Append(line).Append('\n');
            await output.WriteAsync(lines);
            await output.FlushAsync();
        }
    }
}
