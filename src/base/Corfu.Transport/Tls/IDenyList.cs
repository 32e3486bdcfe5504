namespace Corfu.Transport;

/// <summary>Certificates revoked before their end.</summary>
public interface IDenyList
{
    /// <param name="serial">As <see cref="TlsPeer.Serial"/>.</param>
    /// <param name="issuerKey">As <see cref="TlsPeer.IssuerKey"/>.</param>
    bool IsDenied(string serial, string issuerKey);

    /// <summary>An entry was added. Raised on any thread.</summary>
    event Action? Changed;
}
