namespace Corfu.Grpc.Client;

/// <summary>Addresses of front ends: <c>https://host:port,...[?certs=DIR]</c>.</summary>
/// <param name="Certificates">A folder; null: none is named.</param>
internal sealed record FrontEndAddresses(ImmutableArray<Uri> All, string? Certificates)
{
    private const string Folder = "certs=";

    /// <param name="isInsecure">Addresses without TLS may be elsewhere than on loopback.</param>
    /// <exception cref="FormatException">The text names no addresses, or a malformed one.</exception>
    public static FrontEndAddresses Parse(string text, bool isInsecure)
    {
        var parts = text.Split('?', 2);
        if (parts.Length > 1 && !parts[1].StartsWith(Folder, StringComparison.Ordinal))
            throw new FormatException($"'?{parts[1]}': only '?certs=DIR' may stand behind the addresses.");
        var all = ImmutableArray.CreateBuilder<Uri>();
        foreach (var address in parts[0].Split(',', StringSplitOptions.TrimEntries))
        {
            if (!Uri.TryCreate(address, UriKind.Absolute, out var uri) || uri.Scheme is not ("http" or "https"))
                throw new FormatException($"'{address}' is no address such as https://127.0.0.1:20001.");
            if (uri.Scheme == "http" && !uri.IsLoopback && !isInsecure)
                throw new FormatException(
                    $"'{address}' is not encrypted, and not on loopback: use https, or allow it by "
                    + "TlsOptions.Insecure.");
            all.Add(uri);
        }

        return new FrontEndAddresses(all.DrainToImmutable(), parts.Length > 1 ? parts[1][Folder.Length..] : null);
    }
}
