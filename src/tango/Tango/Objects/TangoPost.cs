namespace Tango;

/// <summary>An update that was posted.</summary>
public readonly struct TangoPost
{
    private readonly IWithdrawable? _call;

    internal TangoPost(IWithdrawable call) => _call = call;

    /// <summary>Takes the update back if it was not sent: it will never be in the log, and its sink hears
    /// nothing.</summary>
    /// <returns>False: it was sent, or its sink has heard.</returns>
    public bool TryWithdraw() => _call?.TryWithdraw() ?? false;
}

/// <summary>A call that may not have been sent.</summary>
internal interface IWithdrawable
{
    /// <summary>The record will never be sent, and its caller is not answered.</summary>
    /// <returns>False: it was sent, or its caller is answered.</returns>
    bool TryWithdraw();
}
