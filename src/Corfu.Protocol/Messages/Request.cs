namespace Corfu.Protocol;

/// <summary>A request whose answer is a <typeparamref name="TResponse"/>.</summary>
public abstract record Request<TResponse>(Epoch Epoch) : Request(Epoch)
    where TResponse : Response;
