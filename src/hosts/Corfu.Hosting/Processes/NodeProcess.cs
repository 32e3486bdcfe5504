using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Corfu.Hosting;

/// <summary>A node process, seen from its parent, which it outlives. Its events go to its own log file; the pipes to
/// the parent carry only <see cref="ReadyPrefix"/>, or the reason why it did not start.</summary>
public static partial class NodeProcess
{
    /// <summary>The beginning of the line that a node prints once it serves.</summary>
    public const string ReadyPrefix = "serving ";

    private const int Sighup = 1;
    private const int Sigterm = 15;
    private const int Sigkill = 9;
    private const int MaxErrorText = 4096;

    private static readonly TimeSpan s_endPoll = TimeSpan.FromMilliseconds(20);

    /// <summary>The process that runs the node of a folder; null: none does.</summary>
    public static int? RunningIn(string folder) =>
        FolderLock.OwnerOf(folder) is { ProcessId: > 0 } owner ? owner.ProcessId : null;

    /// <summary>Keeps other commands from changing a folder until it is disposed.</summary>
    /// <exception cref="NodeStartException">In use, or not writable.</exception>
    public static IDisposable Hold(string folder) => FolderLock.Take(folder, FolderUse.Command);

    /// <summary>Starts the process and waits until it serves.</summary>
    /// <exception cref="NodeStartException">The process ended before it served; the message is its own.</exception>
    public static async Task<int> StartAsync(string name, NodeCommandLine command, string config, TimeSpan timeout,
        TimeProvider time, CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo(command.Program)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
            WorkingDirectory = Path.GetDirectoryName(config)!,
        };
        foreach (var argument in command.Arguments) start.ArgumentList.Add(argument);
        start.ArgumentList.Add(config);
        using var process =
            Process.Start(start) ?? throw new NodeStartException($"{name}: {command.Program} did not start.");
        using var deadline = new CancellationTokenSource(timeout, time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        try
        {
            await WaitUntilReadyAsync(name, process, both.Token);
            return process.Id;
        }
        catch (Exception e)
        {
            if (!process.HasExited) process.Kill();
            if (e is OperationCanceledException && !cancellationToken.IsCancellationRequested)
                throw new NodeStartException(
                    $"{name}: it did not serve within {timeout.TotalSeconds:0} s; its log file may say why.");
            throw;
        }
    }

    /// <summary>Asks the process to end, and kills it if it still runs after the time-out. True if it was
    /// killed.</summary>
    public static async Task<bool> StopAsync(int processId, TimeSpan timeout, TimeProvider time,
        CancellationToken cancellationToken)
    {
        Process process;
        try
        {
            process = Process.GetProcessById(processId);
        }
        catch (ArgumentException)
        {
            return false;
        }

        using (process)
        {
            Signal(process, Sigterm);
            try
            {
                using var deadline = new CancellationTokenSource(timeout, time);
                using var both = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
                await WaitForEndAsync(process, time, both.Token);
                return false;
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                Signal(process, Sigkill);
                await WaitForEndAsync(process, time, cancellationToken);
                return true;
            }
        }
    }

    /// <summary>Tells a process to take its configuration anew (SIGHUP).</summary>
    /// <exception cref="NodeStartException">The operating system has no such signal.</exception>
    public static void Reload(int processId)
    {
        if (OperatingSystem.IsWindows())
            throw new NodeStartException("A node on Windows takes its configuration at its start alone: restart it.");
        _ = Kill(processId, Sighup);
    }

    /// <summary>Waits until the process holds no file and no port any more.</summary>
    internal static async Task WaitForEndAsync(Process process, TimeProvider time, CancellationToken cancellationToken)
    {
        while (!process.HasExited && !IsUncollected(process.Id))
            await Task.Delay(s_endPoll, time, cancellationToken);
    }

    /// <summary>True for a process of which only the entry is left that its parent has not collected. The first process
    /// of a container often collects none.</summary>
    private static bool IsUncollected(int processId)
    {
        if (!OperatingSystem.IsLinux()) return false;
        try
        {
            var stat = File.ReadAllText($"/proc/{processId}/stat");
            var fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
            // Threads that still end hold the files.
            return fields[0] == "Z" && int.Parse(fields[17], CultureInfo.InvariantCulture) <= 1;
        }
        catch (IOException)
        {
            return true;
        }
    }

    private static async Task WaitUntilReadyAsync(string name, Process process, CancellationToken cancellationToken)
    {
        while (await process.StandardOutput.ReadLineAsync(cancellationToken) is { } line)
        {
            if (line.StartsWith(ReadyPrefix, StringComparison.Ordinal)) return;
        }

        await process.WaitForExitAsync(cancellationToken);
        var text = new StringBuilder();
        while (text.Length < MaxErrorText && await process.StandardError.ReadLineAsync(cancellationToken) is { } line)
            text.Append(text.Length == 0 ? "" : "\n").Append(line);
        throw new NodeStartException(
            $"{name}: {(text.Length > 0 ? text.ToString() : $"the process ended with exit code {process.ExitCode}.")}");
    }

    private static void Signal(Process process, int signal)
    {
        // The process may be gone already.
        if (OperatingSystem.IsWindows()) process.Kill();
        else _ = Kill(process.Id, signal);
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int Kill(int processId, int signal);
}
