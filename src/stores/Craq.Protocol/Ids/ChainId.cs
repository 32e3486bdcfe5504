using System.Security.Cryptography;
using System.Text;

namespace Craq;

/// <summary>Identity of a chain. A name leads to one id for ever.</summary>
public readonly record struct ChainId(Guid Value) : IComparable<ChainId>
{
    public static readonly ChainId None;

    public bool IsNone => Value == Guid.Empty;

    /// <summary>The id of a name: the first 16 bytes of the SHA-256 of <c>craq:</c> and the name in UTF-8.</summary>
    public static ChainId FromName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return new ChainId(new Guid(SHA256.HashData(Encoding.UTF8.GetBytes("craq:" + name)).AsSpan(0, 16)));
    }

    public int CompareTo(ChainId other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString("D");
}
