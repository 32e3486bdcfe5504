using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using System.Text;

namespace Craq.Hosting.Memcached;

/// <summary>A listener, as <c>[ADDRESS:]PORT=MODE[@KEYSPACE]</c>: <c>11211=strong</c>, <c>11212=eventual@pages</c>,
/// <c>[::1]:11213=bounded:3:2s@pages</c>.</summary>
internal sealed record MemcachedOptions(IPEndPoint EndPoint, string Mode, ReadTerms Terms, string Keyspace)
{
    public const string DefaultKeyspace = "main";

    private const string Form = "[ADDRESS:]PORT=strong|eventual|bounded:N[:SECONDSs][@KEYSPACE]";

    /// <summary>As memcached's default.</summary>
    public int MaxConnections { get; init; } = 1024;

    public int MaxValue { get; init; } = 1 << 20;

    public string Listen => EndPoint.ToString();

    public bool IsLoopback => IPAddress.IsLoopback(EndPoint.Address);

    public static bool TryParse(string? text, [NotNullWhen(true)] out MemcachedOptions? options,
        [NotNullWhen(false)] out string? fault)
    {
        options = null;
        fault = $"'{text}' is no memcached listener: {Form}.";
        var equals = text?.IndexOf('=') ?? -1;
        if (equals < 1 || !TryEndPoint(text![..equals], out var endpoint)) return false;
        var rest = text[(equals + 1)..];
        var at = rest.IndexOf('@');
        var (mode, keyspace) = at < 0 ? (rest, DefaultKeyspace) : (rest[..at], rest[(at + 1)..]);
        if (Encoding.UTF8.GetByteCount(keyspace) is 0 or > ChainConfig.MaxName
            || !TryTerms(mode, out var terms)) return false;
        options = new MemcachedOptions(endpoint, mode, terms, keyspace);
        fault = null;
        return true;
    }

    public override string ToString() => $"{EndPoint}={Mode}@{Keyspace}";

    private static bool TryEndPoint(string text, [NotNullWhen(true)] out IPEndPoint? endpoint)
    {
        endpoint = null;
        if (int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var port))
        {
            if (port is < 1 or > 65535) return false;
            endpoint = new IPEndPoint(IPAddress.Loopback, port);
            return true;
        }

        if (!NodeEndpoint.TryParse(text, out var named)) return false;
        var address = named.Host == "localhost" ? IPAddress.Loopback : null;
        if (address is null && !IPAddress.TryParse(named.Host, out address)) return false;
        endpoint = new IPEndPoint(address, named.Port);
        return true;
    }

    // A memcached connection has no session that lasts, so its reads cannot be of one.
    private static bool TryTerms(string mode, out ReadTerms terms)
    {
        terms = mode == "eventual" ? ReadTerms.Eventual : ReadTerms.Strong;
        if (mode is "strong" or "eventual") return true;
        if (mode.Split(':') is not ["bounded", var ahead, .. var age] || age.Length > 1
            || !int.TryParse(ahead, NumberStyles.None, CultureInfo.InvariantCulture, out var versions)) return false;
        var seconds = 0d;
        if (age is [var text] && (!text.EndsWith('s') || !double.TryParse(text[..^1], NumberStyles.AllowDecimalPoint,
            CultureInfo.InvariantCulture, out seconds) || seconds is < 0 or > 86_400)) return false;
        terms = ReadTerms.Bounded(versions, TimeSpan.FromSeconds(seconds));
        return true;
    }
}
