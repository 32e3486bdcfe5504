namespace Corfu.Backup;

/// <summary>A file that is written once, from its beginning to its end.</summary>
public interface IBackupFileWriter : IDisposable
{
    void Append(ReadOnlySpan<byte> bytes);

    /// <summary>Everything appended is durable when this returns. An error is final: the file is worth nothing
    /// then.</summary>
    void Sync();
}
