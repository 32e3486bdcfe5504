using System.Globalization;

namespace Tango.ZooKeeper;

/// <summary>
/// An address of IP, or a network as <c>address/bits</c>. Parsed by rules of its own: Apply must read a list alike in
/// every version of the platform.
/// </summary>
internal readonly struct AddressPrefix
{
    private const int Version4Bytes = 4;
    private const int Version6Bytes = 16;
    private const int Version6Groups = 8;

    // The first bytes of the address in network order, and how many of their bits count.
    private readonly UInt128 _address;
    private readonly int _bytes;
    private readonly int _bits;

    private AddressPrefix(UInt128 address, int bytes, int bits) => (_address, _bytes, _bits) = (address, bytes, bits);

    public static bool TryParse(string text, out AddressPrefix prefix)
    {
        prefix = default;
        var slash = text.IndexOf('/', StringComparison.Ordinal);
        if (!TryParseAddress(slash < 0 ? text : text.AsSpan(0, slash), out var address, out var bytes)) return false;
        var bits = bytes * 8;
        if (slash >= 0 && (!TryParseNumber(text.AsSpan(slash + 1), 3, out bits) || bits > bytes * 8)) return false;
        prefix = new AddressPrefix(address, bytes, bits);
        return true;
    }

    /// <param name="text">An address alone.</param>
    public bool Contains(string text)
    {
        if (!TryParseAddress(text, out var address, out var bytes) || bytes != _bytes) return false;
        return _bits == 0 || (address ^ _address) >> (bytes * 8 - _bits) == 0;
    }

    private static bool TryParseAddress(ReadOnlySpan<char> text, out UInt128 address, out int bytes)
    {
        bytes = text.Contains(':') ? Version6Bytes : Version4Bytes;
        return bytes == Version6Bytes ? TryParseVersion6(text, out address) : TryParseVersion4(text, out address);
    }

    private static bool TryParseVersion4(ReadOnlySpan<char> text, out UInt128 address)
    {
        address = 0;
        Span<Range> parts = stackalloc Range[Version4Bytes + 1];
        if (text.Split(parts, '.') != Version4Bytes) return false;
        for (var i = 0; i < Version4Bytes; i++)
        {
            if (!TryParseNumber(text[parts[i]], 3, out var part) || part > byte.MaxValue) return false;
            address = (address << 8) | (uint)part;
        }

        return true;
    }

    // Groups of hexadecimal digits; "::" once stands for the groups that are missing.
    private static bool TryParseVersion6(ReadOnlySpan<char> text, out UInt128 address)
    {
        address = 0;
        var gap = text.IndexOf("::");
        if (gap < 0) return TryParseGroups(text, out address, out var all) && all == Version6Groups;
        if (text[(gap + 1)..].Contains("::", StringComparison.Ordinal)) return false;
        if (!TryParseGroups(text[..gap], out var head, out var before)
            || !TryParseGroups(text[(gap + 2)..], out var tail, out var after)
            || before + after >= Version6Groups) return false;
        address = before == 0 ? tail : (head << (16 * (Version6Groups - before))) | tail;
        return true;
    }

    private static bool TryParseGroups(ReadOnlySpan<char> text, out UInt128 value, out int count)
    {
        (value, count) = (0, 0);
        if (text.IsEmpty) return true;
        foreach (var range in text.Split(':'))
        {
            var group = text[range];
            if (++count > Version6Groups || group.Length is 0 or > 4
                || !ushort.TryParse(group, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var part))
                return false;
            value = (value << 16) | part;
        }

        return true;
    }

    private static bool TryParseNumber(ReadOnlySpan<char> text, int digits, out int number)
    {
        number = 0;
        return text.Length <= digits
            && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);
    }
}
