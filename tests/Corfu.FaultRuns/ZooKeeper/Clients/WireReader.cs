using System.Buffers.Binary;
using System.Text;

namespace Corfu.FaultRuns.ZooKeeper.Clients;

/// <summary>Fields of a frame of ZooKeeper's protocol. A field that is not whole throws.</summary>
internal ref struct WireReader(ReadOnlySpan<byte> frame)
{
    private ReadOnlySpan<byte> _left = frame;

    public int Int() => BinaryPrimitives.ReadInt32BigEndian(Take(sizeof(int)));

    public long Long() => BinaryPrimitives.ReadInt64BigEndian(Take(sizeof(long)));

    public bool Flag() => Take(1)[0] != 0;

    public byte[] Bytes()
    {
        var length = Int();
        return length < 0 ? [] : Take(length).ToArray();
    }

    public string Text() => Encoding.UTF8.GetString(Bytes());

    public IReadOnlyList<string> Texts()
    {
        var texts = new List<string>();
        for (var left = Int(); left > 0; left--) texts.Add(Text());
        return texts;
    }

    public ZooStat Stat()
    {
        var (czxid, mzxid) = (Long(), Long());
        Take(2 * sizeof(long));
        var version = Int();
        Take(2 * sizeof(int));
        var owner = Long();
        Take(2 * sizeof(int));
        return new ZooStat(czxid, mzxid, Long(), version, owner);
    }

    private ReadOnlySpan<byte> Take(int length)
    {
        if ((uint)length > (uint)_left.Length) throw new InvalidDataException($"{length} bytes of {_left.Length}");
        var taken = _left[..length];
        _left = _left[length..];
        return taken;
    }
}
