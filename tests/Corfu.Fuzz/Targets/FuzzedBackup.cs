using System.Buffers.Binary;
using System.Security.Cryptography;
using Corfu.Backup;

namespace Corfu.Fuzz;

/// <summary>A whole backup as `corfu backup verify` and `corfu restore` read it: the manifest fits its file, the file
/// is damaged.</summary>
internal sealed class FuzzedBackup : IBackupFolder
{
    private const long From = 3;
    private const long Until = 1107;

    private readonly ClusterId _cluster = new(Protocol.Tests.SampleMessages.Id(9));
    private byte[] _file = [];
    private byte[] _manifest = [];

    public string Name => "fuzz";

    public byte[] Sample()
    {
        var entry = EntryCodec.Decode(ProtocolTargets.Entries[1]);
        var bytes = new List<byte>(new BackupFileHeader(_cluster, new LogPosition(From)).Encode());
        bytes.AddRange(
            BackupRecordCodec.Encode(new CopiedPage(CopiedKind.Trimmed, new LogPosition(From), 100 - From, null)));
        bytes.AddRange(BackupRecordCodec.Encode(new CopiedPage(CopiedKind.Entry, entry.Position, 1, entry)));
        bytes.AddRange(
            BackupRecordCodec.Encode(new CopiedPage(CopiedKind.Trimmed, new LogPosition(101), Until - 101, null)));
        return [.. bytes];
    }

    /// <summary>The checks of header and records, as far as their lengths lead.</summary>
    public static void Repair(byte[] file)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(file.AsSpan(32), Crc32C.Compute(file.AsSpan(0, 32)));
        for (var at = BackupFileHeader.Size; at + BackupRecordCodec.HeaderSize <= file.Length;)
        {
            var length = BinaryPrimitives.ReadInt32LittleEndian(file.AsSpan(at));
            if (length < 0 || length > file.Length - at - BackupRecordCodec.HeaderSize) return;
            var body = file.AsSpan(at + BackupRecordCodec.HeaderSize, length);
            BinaryPrimitives.WriteUInt32LittleEndian(file.AsSpan(at + 24),
                Crc32C.Compute(Crc32C.Compute(file.AsSpan(at, 24)), body));
            at += BackupRecordCodec.HeaderSize + length;
        }
    }

    public void Verify(byte[] file)
    {
        _file = file;
        _manifest = (BackupManifest.Empty(_cluster) with
        {
            TrimMark = From,
            End = Until,
            Files = [new BackupFile(BackupFile.NameOf(From), From, Until, file.Length,
                Convert.ToHexStringLower(SHA256.HashData(file)))],
        }).Encode();
        VerifyAsync().GetAwaiter().GetResult();
    }

    public IReadOnlyList<string> List() => [BackupManifest.FileName, BackupFile.NameOf(From)];

    public Stream Open(string name) =>
        new MemoryStream(name == BackupManifest.FileName ? _manifest : _file, writable: false);

    public IBackupFileWriter Create(string name) => throw new NotSupportedException();

    public void Replace(string name, ReadOnlySpan<byte> content) => throw new NotSupportedException();

    public void Delete(string name) => throw new NotSupportedException();

    public void Dispose()
    {
    }

    private async Task VerifyAsync()
    {
        var reader = await BackupReader.OpenAsync(this);
        await reader.VerifyAsync();
    }
}
