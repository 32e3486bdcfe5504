using Serilog;
using Serilog.Debugging;

namespace Corfu.Hosting;

/// <summary>A node's log file: one line per event, with a time in microseconds. A full file is followed by
/// <c>name_001.log</c> and so on; the oldest are deleted. Writing never fails for the caller: what cannot be written is
/// lost, and the node goes on.</summary>
internal static class NodeLogFile
{
    public const int MaxFileBytes = 8 << 20;
    public const int MaxFiles = 4;

    /// <param name="warn">Told once that, and why, the file cannot be written.</param>
    public static ILoggingBuilder AddNodeLogFile(
        this ILoggingBuilder logging, string path, Action<string> warn, bool json = false)
    {
        var warned = 0;
        SelfLog.Enable(fault =>
        {
            if (Interlocked.Exchange(ref warned, 1) == 0)
                warn($"The log file {path} cannot be written: {fault.Split('\n', 2)[0]}");
        });
        return logging.AddSerilog(
            // The levels are the builder's to filter.
            new LoggerConfiguration().MinimumLevel.Verbose()
                .WriteTo.File(json ? new NodeLogJson() : new NodeLogFormatter(), path, fileSizeLimitBytes: MaxFileBytes,
                    rollOnFileSizeLimit: true, retainedFileCountLimit: MaxFiles)
                .CreateLogger(),
            dispose: true);
    }
}
