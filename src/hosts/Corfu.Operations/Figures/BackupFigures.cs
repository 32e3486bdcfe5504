using System.Diagnostics.Metrics;

namespace Corfu.Operations.Figures;

/// <summary>The age of the newest backup, and of the newest one that a restore has proved, from the files that timers
/// leave in the folder of backups.</summary>
internal sealed class BackupFigures : IDisposable
{
    public const string MeterName = "Corfu.Backup";

    /// <summary>The record that <c>corfu backup drill</c> leaves when the restored copy was equal.</summary>
    public const string ProvedFile = "drill.json";

    private readonly Meter _meter = new(MeterName);
    private readonly string _folder;
    private readonly TimeProvider _time;

    public BackupFigures(string folder, TimeProvider time)
    {
        (_folder, _time) = (folder, time);
        _meter.CreateObservableGauge("corfu.backup.age", () => AgeOf(file => Path.GetFileName(file) != ProvedFile), "s",
            "Since the newest backup was written.");
        _meter.CreateObservableGauge("corfu.backup.restore.verified.age",
            () => AgeOf(file => Path.GetFileName(file) == ProvedFile), "s",
            "Since a restored copy was last compared with its backup.");
    }

    public void Dispose() => _meter.Dispose();

    // No file: no figure, which the alert tells apart from a young one.
    private IEnumerable<Measurement<double>> AgeOf(Func<string, bool> counts)
    {
        var newest = DateTime.MinValue;
        try
        {
            foreach (var file in Directory.EnumerateFiles(_folder, "*", SearchOption.AllDirectories).Where(counts))
            {
                if (File.GetLastWriteTimeUtc(file) is var written && written > newest) newest = written;
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }

        return newest == DateTime.MinValue ? [] : [new((_time.GetUtcNow().UtcDateTime - newest).TotalSeconds)];
    }
}
