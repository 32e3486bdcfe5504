namespace Corfu.Backup;

/// <summary>The folder of a backup. Locked for one user at a time as long as it is open.</summary>
public interface IBackupFolder : IDisposable
{
    /// <summary>For messages.</summary>
    string Name { get; }

    IReadOnlyList<string> List();

    /// <summary>For reading.</summary>
    /// <exception cref="IOException">Not there, or not readable.</exception>
    Stream Open(string name);

    /// <summary>A new file; one of that name is replaced.</summary>
    IBackupFileWriter Create(string name);

    /// <summary>All of it or nothing, also after a power cut; all that was synced before is then durable too.</summary>
    void Replace(string name, ReadOnlySpan<byte> content);

    void Delete(string name);
}

/// <summary>A file that is written once, from its beginning to its end.</summary>
public interface IBackupFileWriter : IDisposable
{
    void Append(ReadOnlySpan<byte> bytes);

    /// <summary>Everything appended is durable when this returns. After an error the file is worth nothing.</summary>
    void Sync();
}
