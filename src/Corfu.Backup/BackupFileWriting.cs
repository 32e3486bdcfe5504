using System.Security.Cryptography;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>One file while it is being written.</summary>
internal sealed class BackupFileWriting : IDisposable
{
    private readonly IBackupFileWriter _file;
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly long _from;
    private long _until;

    public BackupFileWriting(IBackupFolder folder, ClusterId cluster, LogPosition from)
    {
        _from = _until = from.Offset;
        _file = folder.Create(BackupFile.NameOf(_from));
        Write(new BackupFileHeader(cluster, from).Encode());
    }

    public long Bytes { get; private set; }

    public void Add(CopiedPage page)
    {
        Write(BackupRecordCodec.Encode(page));
        _until = page.Until.Offset;
    }

    /// <summary>Durable and final. Null when nothing was added.</summary>
    public BackupFile? Finish()
    {
        _file.Sync();
        return _until > _from ? new BackupFile(BackupFile.NameOf(_from), _from, _until, Bytes, Convert.ToHexStringLower(_hash.GetHashAndReset())) : null;
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
