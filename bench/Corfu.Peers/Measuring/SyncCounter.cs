using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>Counts the synchronizing system calls of processes by strace, which slows them: never while times are
/// measured.</summary>
internal sealed partial class SyncCounter : IAsyncDisposable
{
    public const string Calls = "fsync,fdatasync,msync,syncfs,sync_file_range";

    private const string Program = "strace";
    private const string Attached = "attached";
    private const int Sigint = 2;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    private readonly Process _process;
    private readonly string _summary;

    private SyncCounter(Process process, string summary) => (_process, _summary) = (process, summary);

    /// <summary>Why nothing can be counted here; null if it can.</summary>
    public static string? Missing => Programs.Find(Program) is null ? $"{Program} is not installed" : null;

    /// <exception cref="PeerException">The processes cannot be traced.</exception>
    public static async Task<SyncCounter> StartAsync(IReadOnlyCollection<int> processes, string folder,
        CancellationToken cancellationToken)
    {
        var summary = Path.Combine(folder, "syncs.txt");
        List<string> arguments = ["-f", "-c", "-e", "trace=" + Calls, "-o", summary];
        foreach (var id in processes) arguments.AddRange(["-p", id.ToString(CultureInfo.InvariantCulture)]);
        Process process;
        try
        {
            process = Process.Start(new ProcessStartInfo(Program, arguments)
            {
                RedirectStandardError = true,
                RedirectStandardInput = true
            })!;
        }
        catch (Win32Exception e)
        {
            throw new PeerException($"{Program}: {e.Message}", e);
        }

        var counter = new SyncCounter(process, summary);
        try
        {
            await counter.WaitUntilAttachedAsync(processes.Count, cancellationToken);
            return counter;
        }
        catch
        {
            await counter.DisposeAsync();
            throw;
        }
    }

    /// <summary>Lets go of the processes.</summary>
    /// <returns>Calls since the start.</returns>
    public async Task<long> StopAsync()
    {
        if (!_process.HasExited && Kill(_process.Id, Sigint) != 0) throw new PeerException($"{Program} has ended.");
        using var limit = new CancellationTokenSource(Limit);
        // Every detachment is a line, and a full pipe would hold it.
        await _process.StandardError.ReadToEndAsync(limit.Token);
        await _process.WaitForExitAsync(limit.Token);
        return Sum(await File.ReadAllLinesAsync(_summary, CancellationToken.None));
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            // The kernel lets go of traced processes when their tracer ends.
            _process.Kill();
            await _process.WaitForExitAsync(CancellationToken.None);
        }

        _process.Dispose();
    }

    /// <summary>The column of calls of the table that strace prints: after shares and times, before errors and
    /// names.</summary>
    private static long Sum(IEnumerable<string> summary)
    {
        const int CallsColumn = 3;
        var names = Calls.Split(',');
        long sum = 0;
        foreach (var line in summary)
        {
            var columns = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (columns.Length > CallsColumn && names.Contains(columns[^1]))
                sum += long.Parse(columns[CallsColumn], CultureInfo.InvariantCulture);
        }

        return sum;
    }

    private async Task WaitUntilAttachedAsync(int count, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(Limit);
        var lines = new LastLines();
        while (count > 0)
        {
            var line = await _process.StandardError.ReadLineAsync(limit.Token)
                ?? throw new PeerException($"{Program} cannot trace the servers:\n{lines}");
            lines.Add(line);
            if (line.Contains(Attached, StringComparison.Ordinal)) count--;
        }
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int Kill(int processId, int signal);
}
