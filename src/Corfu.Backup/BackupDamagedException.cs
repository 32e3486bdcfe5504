namespace Corfu.Backup;

/// <summary>A backup is not what was written: a file is missing, short or changed.</summary>
public sealed class BackupDamagedException(string file, string what, Exception? inner = null)
    : BackupException($"The backup is damaged: {file}: {what}.", inner)
{
    public string File { get; } = file;
}
