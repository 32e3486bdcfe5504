using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>The access file, read again when it changes. A file that cannot be used leaves the rights as they are;
/// before the first good one no caller has any.</summary>
internal sealed partial class AccessFile : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private readonly string? _path;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly ITimer? _timer;
    private volatile AccessRules _current = AccessRules.None;

    // Guarded by _gate: the content that was judged last, and what was said of it.
    private byte[]? _seen;
    private string? _fault;

    public AccessFile(IOptions<CorfuGrpcOptions> options, TimeProvider time, ILogger<AccessFile> logger)
    {
        (_path, _logger) = (options.Value.AccessFile, logger);
        if (_path is null) return;
        Reload();
        _timer = time.CreateTimer(static file => ((AccessFile)file!).Reload(), this, Interval, Interval);
    }

    public AccessRules Current => _current;

    /// <summary>Looks at the file now.</summary>
    public void Reload()
    {
        if (_path is null) return;
        lock (_gate)
        {
            try
            {
                var content = Read(_path);
                if (_seen is not null && content.AsSpan().SequenceEqual(_seen)) return;
                _seen = content;
                _current = AccessRules.Parse(content);
                _fault = null;
                LogRead(_logger, _path, _current.Callers);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException or AccessFileException)
            {
                // A missing file is looked for each time; each fault is said once.
                if (_fault == e.Message) return;
                _fault = e.Message;
                if (e is not AccessFileException) _seen = null;
                if (e is FileNotFoundException && _current == AccessRules.None) LogMissing(_logger, _path);
                else if (_current == AccessRules.None) LogNone(_logger, _path, e.Message);
                else LogKept(_logger, _path, e.Message);
            }
        }
    }

    public void Dispose() => _timer?.Dispose();

    private static byte[] Read(string path)
    {
        var length = new FileInfo(path).Length;
        return length > AccessRules.MaxBytes
            ? throw new AccessFileException($"it has {length} bytes, where {AccessRules.MaxBytes} are possible")
            : File.ReadAllBytes(path);
    }

    [LoggerMessage(1, LogLevel.Information, "{Path}: rights of {Callers} callers are in force")]
    private static partial void LogRead(ILogger logger, string path, int callers);

    [LoggerMessage(2, LogLevel.Warning,
        "{Path} cannot be used: {Fault} The rights before stay in force. Mend the file; it is read again by itself.")]
    private static partial void LogKept(ILogger logger, string path, string fault);

    [LoggerMessage(3, LogLevel.Warning,
        "{Path} cannot be used: {Fault} Certificates of the role caller have no rights until it can.")]
    private static partial void LogNone(ILogger logger, string path, string fault);

    [LoggerMessage(4, LogLevel.Information,
        "{Path} is not there: certificates of the role caller have no rights")]
    private static partial void LogMissing(ILogger logger, string path);
}
