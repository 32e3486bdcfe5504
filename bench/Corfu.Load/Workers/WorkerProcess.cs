using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Corfu.Hosting;

namespace Corfu.Load;

/// <summary>A load generator process, from the outside. It ends with its standard input.</summary>
internal sealed class WorkerProcess : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(120);

    private readonly Process _process;

    private WorkerProcess(Process process) => _process = process;

    public static WorkerProcess Start() => new(ChildProcess.Start(WorkerCommand.Name));

    /// <summary>Since its start.</summary>
    public TimeSpan ProcessorTime
    {
        get
        {
            _process.Refresh();
            try
            {
                return _process.TotalProcessorTime;
            }
            catch (InvalidOperationException)
            {
                throw new IOException("A load generator process has died.");
            }
        }
    }

    public async Task<WorkerReport> RunAsync(WorkerOrder order)
    {
        await _process.StandardInput.WriteLineAsync(JsonSerializer.Serialize(order, LoadJson.Default.WorkerOrder));
        await _process.StandardInput.FlushAsync();
        // The process first opens what it works on, and its callers end what they have begun.
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(order.Seconds) + s_patience);
        string line;
        try
        {
            line = await _process.StandardOutput.ReadLineAsync(patience.Token)
                ?? throw new IOException("A load generator process has died.");
        }
        catch (OperationCanceledException)
        {
            throw new IOException(string.Create(CultureInfo.InvariantCulture,
                $"{order.Kind}: a load generator did not end {s_patience.TotalSeconds} s after its round."));
        }

        var report = JsonSerializer.Deserialize(line, LoadJson.Default.WorkerReport)!;
        return report.Error is null ? report : throw new IOException(report.Error);
    }

    public void Dispose() => ChildProcess.Stop(_process);
}
