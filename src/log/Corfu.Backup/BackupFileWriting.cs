using System.Security.Cryptography;

namespace Corfu.Backup;

/// <summary>A file while it is being written.</summary>
internal sealed class BackupFileWriting : IDisposable
{
    private readonly string _name;
    private readonly IBackupFileWriter _file;
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly long _from;
    private long _until;

    private BackupFileWriting(IBackupFolder folder, ClusterId cluster, string name, long from, LogPosition position)
    {
        _name = name;
        _from = _until = from;
        _file = folder.Create(name);
        Write(new BackupFileHeader(cluster, position).Encode());
    }

    public static BackupFileWriting OfLog(IBackupFolder folder, ClusterId cluster, LogPosition from) =>
        new(folder, cluster, BackupFile.NameOf(from.Offset), from.Offset, from);

    public static BackupFileWriting OfStreams(IBackupFolder folder, ClusterId cluster, LogPosition mark) =>
        new(folder, cluster, BackupFile.StreamsNameOf(mark.Offset), 0, mark) { _until = mark.Offset };

    public long Bytes { get; private set; }

    public void Add(CopiedPage page)
    {
        Write(BackupRecordCodec.Encode(page));
        _until = page.Until.Offset;
    }

    public void Add(ImmutableArray<StreamTail> tails) => Write(BackupStreamsCodec.Encode(tails));

    /// <summary>Durable and final. Null when nothing was added.</summary>
    public BackupFile? Finish()
    {
        _file.Sync();
        if (_until == _from) return null;
        return new BackupFile(_name, _from, _until, Bytes, Convert.ToHexStringLower(_hash.GetHashAndReset()));
    }

    public void Dispose()
    {
        _file.Dispose();
        _hash.Dispose();
    }

    private void Write(byte[] bytes)
    {
        _file.Append(bytes);
        _hash.AppendData(bytes);
        Bytes += bytes.Length;
    }
}
