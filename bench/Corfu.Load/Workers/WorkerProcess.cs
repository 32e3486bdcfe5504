using System.Diagnostics;
using System.Text.Json;
using Corfu.Hosting;

namespace Corfu.Load;

/// <summary>A load generator process, from the outside. It ends with its standard input.</summary>
internal sealed class WorkerProcess : IDisposable
{
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
        var line = await _process.StandardOutput.ReadLineAsync()
            ?? throw new IOException("A load generator process has died.");
        var report = JsonSerializer.Deserialize(line, LoadJson.Default.WorkerReport)!;
        return report.Error is null ? report : throw new IOException(report.Error);
    }

    public void Dispose() => ChildProcess.Stop(_process);
}
